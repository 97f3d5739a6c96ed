"""my_plugin grades answers: the last line of the answer must be the truth, whatever the case."""

from aiperf_plugin import grader, run


@grader("my_plugin")
def grade(answer, truth):
    lines = answer.strip().splitlines()
    if not lines:
        return None  # no answer was found in the text
    said = lines[-1].strip()
    return {"correct": said.lower() == truth.strip().lower(), "extracted_answer": said}


if __name__ == "__main__":
    run()
