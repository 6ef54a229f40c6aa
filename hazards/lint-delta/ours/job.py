import sys


def arguments():
    return sys.argv[1:]


def name():
    return "job"


def run():
    return name(), arguments()
