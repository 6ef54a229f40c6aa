import os
import sys


def arguments():
    return sys.argv[1:]


def home():
    return os.environ["HOME"]


def name():
    return "job"


def run():
    return name(), arguments()


def log():
    return os.path.join("/var/log", name())
