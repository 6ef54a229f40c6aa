RETRIES = 3


def fetch(url, timeout=30):
    return get(url, timeout=timeout)
