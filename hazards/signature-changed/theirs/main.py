from lib import connect


def local():
    return connect("localhost", 80)
