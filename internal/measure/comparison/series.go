package comparison

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/base/sorting"
)

// Series compares two sweeps or searches cell by cell.
type Series struct {
	Cells        []Cell
	OnlyA, OnlyB []string // cells that the other side does not have
	Outcome      Outcome
}

// Cell is the comparison of one cell. It has no lines if its runs cannot be compared.
type Cell struct {
	Name    string
	Refused string // why the runs cannot be compared; empty if they can
	*Result
}

// directories maps the name of a cell to the directories of its runs.
type directories map[string][]string

// cellsOf returns the cells of a sweep or search in a directory. A cell is a run, its repetitions, or its runs below the trials of the series. It
// returns nil if there are no cells, or if the directory is a run or the repetitions of one.
func cellsOf(path string) directories {
	if hasRecords(path) || len(repetitions(path)) > 0 {
		return nil
	}
	cells := directories{}
	for _, cell := range subdirectories(path) {
		if dir := filepath.Join(path, cell); hasRecords(dir) {
			cells[cell] = append(cells[cell], dir)
		} else {
			cells[cell] = append(cells[cell], repetitions(dir)...)
		}
		if len(cells[cell]) == 0 {
			delete(cells, cell)
		}
	}
	for _, trial := range subdirectories(filepath.Join(path, "profile_runs")) {
		for _, cell := range subdirectories(filepath.Join(path, "profile_runs", trial)) {
			if dir := filepath.Join(path, "profile_runs", trial, cell); hasRecords(dir) {
				cells[cell] = append(cells[cell], dir)
			}
		}
	}
	if len(cells) == 0 {
		return nil
	}
	return cells
}

// subdirectories returns the sorted names of the subdirectories; none if the directory cannot be read.
func subdirectories(path string) (names []string) {
	list, err := os.ReadDir(path)
	if err != nil {
		return nil
	}
	for _, e := range list {
		if info, err := os.Stat(filepath.Join(path, e.Name())); err == nil && info.IsDir() { // follows links
			names = append(names, e.Name())
		}
	}
	return names
}

func hasRecords(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, recordsFile))
	return err == nil && !info.IsDir()
}

// repetitions returns the directories of the repetitions of a run.
func repetitions(path string) (list []string) {
	for _, name := range subdirectories(filepath.Join(path, "profile_runs")) {
		if dir := filepath.Join(path, "profile_runs", name); hasRecords(dir) {
			list = append(list, dir)
		}
	}
	return list
}

// names returns the names of the cells, with numbers in them sorted by value.
func (d directories) names() []string {
	list := make([]string, 0, len(d))
	for name := range d {
		list = append(list, name)
	}
	sorting.Sort(list, byFigures)
	return list
}

// byFigures compares names as a reader would: runs of digits by their value.
func byFigures(a, b string) int {
	for a != "" && b != "" {
		x, y := digitsOrText(a), digitsOrText(b)
		if c := compareParts(x, y); c != 0 {
			return c
		}
		a, b = a[len(x):], b[len(y):]
	}
	return strings.Compare(a, b)
}

// digitsOrText returns the digits at the start of a text; if there are none, the text before the first digit.
func digitsOrText(s string) string {
	digits := isDigit(s[0])
	for i := range len(s) {
		if isDigit(s[i]) != digits {
			return s[:i]
		}
	}
	return s
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func compareParts(x, y string) int {
	if isDigit(x[0]) && isDigit(y[0]) {
		a, b := strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		if c := strings.Compare(a, b); c != 0 {
			return c
		}
	}
	return strings.Compare(x, y)
}

// IsSeries reports whether every path is the directory of a sweep or search. It is an error if only some of them are.
func IsSeries(paths []string) (bool, error) {
	series, other := "", ""
	for _, path := range paths {
		if cellsOf(path) != nil {
			series = path
		} else {
			other = path
		}
	}
	if series != "" && other != "" {
		if _, err := Load(other, 0); err != nil {
			return false, err
		}
		cells := cellsOf(series)
		return false, fmt.Errorf("%s is a series of %d cells and %s is not: name runs of one of its cells, for example %s", series, len(cells), other, cells[cells.names()[0]][0])
	}
	return series != "", nil
}

// CompareSeries judges the cells of B against the cells of A with the same names. It skips the first skip seconds of every run. The statistics of all
// cells form one family, so the confidence level covers all of them together.
func CompareSeries(a, b []string, skip float64, o Options) (*Series, error) {
	sides := [2]directories{{}, {}}
	seen := map[string]bool{}
	for k, paths := range [][]string{a, b} {
		for _, path := range paths {
			for name, dirs := range cellsOf(path) {
				for _, dir := range dirs {
					if seen[dir] {
						return nil, fmt.Errorf("%s is listed twice", dir)
					}
					seen[dir] = true
				}
				sides[k][name] = append(sides[k][name], dirs...)
			}
		}
	}
	s := &Series{}
	for _, name := range sides[1].names() {
		if sides[0][name] == nil {
			s.OnlyB = append(s.OnlyB, name)
		}
	}
	var results []*Result
	var all []Line
	refused := 0
	for _, name := range sides[0].names() {
		if sides[1][name] == nil {
			s.OnlyA = append(s.OnlyA, name)
			continue
		}
		cell := Cell{Name: name}
		a, err := loadCell(sides[0][name], skip)
		if err != nil {
			return nil, err
		}
		b, err := loadCell(sides[1][name], skip)
		if err != nil {
			return nil, err
		}
		if cell.Result, err = compareWithoutJudging(a, b, o); err != nil {
			cell.Refused, cell.Result = err.Error(), &Result{Options: o, Outcome: Cannot, A: a, B: b}
			refused++
		} else {
			results = append(results, cell.Result)
		}
		cell.dropValues()
		s.Cells = append(s.Cells, cell)
	}
	switch len(s.Cells) {
	case 0:
		return nil, fmt.Errorf("no cell is on both sides: A has %s, B has %s", someOf(s.OnlyA), someOf(s.OnlyB))
	case refused:
		return nil, fmt.Errorf("%s: %s", s.Cells[0].Name, s.Cells[0].Refused)
	}
	judge(results)
	for _, r := range results {
		all = append(all, r.Lines...)
	}
	if s.Outcome = outcome(all); s.Outcome == Same && refused > 0 {
		s.Outcome = Cannot
	}
	return s, nil
}

// loadCell reads the runs of a cell.
func loadCell(dirs []string, skip float64) (list []Run, err error) {
	for _, dir := range dirs {
		runs, err := Load(dir, skip)
		if err != nil {
			return nil, err
		}
		list = append(list, runs...)
	}
	return list, nil
}

// dropValues drops the values of requests except for their number, because a series may have hundreds of cells.
func (r *Result) dropValues() {
	for _, side := range [][]Run{r.A, r.B} {
		for i := range side {
			run := &side[i]
			run.Values = map[string][]float64{"request_latency": run.Values["request_latency"]}
			run.Ends, run.Output, run.MetObjectives = nil, nil, nil
		}
	}
	r.drifts = nil
}

// someOf returns the first names of a list.
func someOf(list []string) string {
	const most = 4
	if len(list) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
	}
	return strings.Join(list, ", ")
}

// Count returns the number of cells with an outcome.
func (s *Series) Count(o Outcome) (n int) {
	for _, c := range s.Cells {
		if c.Outcome == o {
			n++
		}
	}
	return n
}

// Sentence returns the numbers of cells by outcome, worst first.
func (s *Series) Sentence() string {
	parts := []string{}
	for _, o := range []Outcome{Worse, Better, Cannot, Same} {
		if n := s.Count(o); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, o))
		}
	}
	return fmt.Sprintf("%d cells, %s", len(s.Cells), strings.Join(parts, ", "))
}

// FirstJudged returns the comparison of the first cell that was not refused. There must be one.
func (s *Series) FirstJudged() *Result {
	i := slices.IndexFunc(s.Cells, func(c Cell) bool { return c.Refused == "" })
	return s.Cells[i].Result
}
