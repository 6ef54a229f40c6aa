def connect(host, port, *, timeout):
    return f"{host}:{port}?timeout={timeout}"
