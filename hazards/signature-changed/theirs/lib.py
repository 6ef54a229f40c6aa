def connect(host, port):
    return f"{host}:{port}"
