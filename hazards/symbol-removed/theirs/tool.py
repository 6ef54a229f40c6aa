from store import read_rows


def first(path):
    return read_rows(path)[0]
