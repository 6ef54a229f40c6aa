RETRIES = 3


def fetch(url, timeout=30, verify=True):
    return get(url, timeout=timeout, verify=verify)
