def scale(value, factor):
    return value * factor


def shift(value, offset):
    return value + offset


def invert(value):
    return -value
