def load_rows(path):
    with open(path) as file:
        return [line.split() for line in file]


def count_rows(path):
    return len(load_rows(path))
