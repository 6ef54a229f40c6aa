RETRIES = 3


def fetch(url, timeout=60):
    return get(url, timeout=timeout)
