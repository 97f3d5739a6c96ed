"""my_plugin writes a table of averages next to the other results of a run."""

import csv
import os

from aiperf_plugin import exporter, run


@exporter("my_plugin")
def export(directory, summary):
    path = os.path.join(directory, "my_plugin.csv")
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["metric", "unit", "avg"])
        for name, metric in summary.items():
            if isinstance(metric, dict) and "avg" in metric:
                table.writerow([name, metric.get("unit"), metric["avg"]])
    return [{"path": path, "description": "average of every metric"}]


if __name__ == "__main__":
    run()
