package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// inputFile is what a look into the input file tells before anything is built from it.
type inputFile struct {
	path       string
	kind       fileType // as written, else as recognised
	recognised bool     // nobody wrote the type
	records    int      // rows that are not blank
	timed      bool     // the first row has a time
}

// maxFaults is how many bad rows are listed one by one.
const maxFaults = 10

// lookInto reads a file of JSON rows once: is every row JSON, how many are there, what are they. A format that is not built yet is
// not looked into.
func lookInto(path, written string) (*inputFile, error) {
	info, err := os.Stat(path)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%s does not exist", path)
		}
		return nil, err
	}
	f := &inputFile{path: path, kind: fileTypeOf(written), recognised: written == ""}
	if written != "" && !f.kind.built {
		return f, nil
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a directory; a directory needs a --custom-dataset-type that takes one", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return f, f.read(bufio.NewReaderSize(file, 1<<16))
}

// read counts and checks the rows.
func (f *inputFile) read(r *bufio.Reader) error {
	var faults []string
	bad := 0
	for line := 1; ; line++ {
		row, err := r.ReadBytes('\n')
		if line == 1 {
			row = bytes.TrimPrefix(row, []byte("\xef\xbb\xbf"))
		}
		row = bytes.TrimSpace(row)
		if len(row) > 0 {
			if fault := f.row(row); fault != "" {
				if !f.kind.built && f.records == 0 {
					return fmt.Errorf("%s:%d: %s", f.path, line, fault)
				}
				if bad++; bad <= maxFaults {
					faults = append(faults, fmt.Sprintf("%s:%d: %s", f.path, line, fault))
				}
			} else if f.records++; f.records == 1 && !f.kind.built {
				return nil
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if bad > maxFaults {
		faults = append(faults, fmt.Sprintf("and %d more bad rows", bad-maxFaults))
	}
	if bad > 0 {
		return errors.New(strings.Join(faults, "\n"))
	}
	if f.records == 0 {
		return fmt.Errorf("%s holds no records", f.path)
	}
	return nil
}

// row checks one row; the first good one settles type and time. It returns what is wrong.
func (f *inputFile) row(row []byte) string {
	if f.records > 0 {
		if row[0] == '{' && json.Valid(row) {
			return ""
		}
		return jsonFault(row)
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(row, &keys); err != nil {
		if name := recogniseText(row); name != "" && f.recognised {
			f.kind = fileTypeOf(name)
			return ""
		}
		return jsonFault(row)
	}
	if f.recognised {
		name := recognise(keys)
		if name == "" {
			return fmt.Sprintf("no format fits a row with the keys %s; give --custom-dataset-type", keyList(keys))
		}
		f.kind = fileTypeOf(name)
	}
	stamp := bytes.TrimSpace(keys["timestamp"])
	f.timed = f.kind.timed || f.kind.trace && len(stamp) > 0 && string(stamp) != "null"
	return ""
}

// jsonFault says what keeps a row from being a JSON object.
func jsonFault(row []byte) string {
	var v any
	if err := json.Unmarshal(row, &v); err != nil {
		return "invalid JSON: " + err.Error()
	}
	kinds := map[string]string{"[": "an array", "\"": "text", "t": "true", "f": "false", "n": "null"}
	kind, ok := kinds[string(row[:1])]
	if !ok {
		kind = "a number"
	}
	return "must be a JSON object, got " + kind
}

// recogniseText tells formats whose first line is not JSON.
func recogniseText(row []byte) string {
	switch {
	case bytes.HasPrefix(row, []byte("PAR1")), bytes.HasPrefix(row, []byte("ARROW1")):
		return "baseten_trace"
	case bytes.Contains(row, []byte("Timestamp")) && bytes.Contains(row, []byte("Request tokens")) && bytes.Contains(row, []byte("Response tokens")):
		return "burst_gpt_trace"
	}
	return ""
}

// dirExists reports whether a directory can be made or is there: no part of its path is a file.
func dirExists(dir string) error {
	for p := filepath.Clean(dir); ; p = filepath.Dir(p) {
		info, err := os.Stat(p)
		if err == nil {
			if !info.IsDir() {
				return fmt.Errorf("%s is a file", p)
			}
			return writable(p)
		}
		if p == filepath.Dir(p) || p == "." {
			return writable(".")
		}
	}
}
