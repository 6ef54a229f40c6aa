class Pool:
    def __init__(self, size):
        self.size = size
        self.free = list(range(size))
        self.used = set()

    def take(self):
        slot = self.free.pop()
        self.used.add(slot)
        return slot

    def give(self, slot):
        self.free.append(slot)
