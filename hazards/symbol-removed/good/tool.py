from store import load_rows


def first(path):
    return load_rows(path)[0]
