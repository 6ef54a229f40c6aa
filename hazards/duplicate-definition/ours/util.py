def clamp(value, low, high):
    return max(low, min(high, value))


def scale(value, factor):
    return value * factor


def shift(value, offset):
    return value + offset


def invert(value):
    return -value
