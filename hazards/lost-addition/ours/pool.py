class Pool:
    def __init__(self, size):
        self.size = size
        self.free = list(range(size))

    def take(self):
        if not self.free:
            raise RuntimeError("no slot is free")
        return self.free.pop()

    def give(self, slot):
        self.free.append(slot)
