"""my_plugin reads files of prompts: a line is a turn, and an empty line ends a conversation."""

from aiperf_plugin import loader, run


@loader("my_plugin")
class Turns:
    def can_load(self, path):
        return path.endswith(".turns")

    def load(self, path):
        turns = []
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.strip():
                    turns.append(line.strip())
                elif turns:
                    yield turns
                    turns = []
        if turns:
            yield turns


if __name__ == "__main__":
    run()
