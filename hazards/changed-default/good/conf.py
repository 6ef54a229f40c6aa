RETRIES = 3


def fetch(url, timeout=60, verify=True):
    return get(url, timeout=timeout, verify=verify)
