package runfiles

import (
	"bufio"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/valyala/fastjson"

	"aiperf/internal/base/jsontext"
)

// ErrRange is the error of a file with a number outside the range of 64-bit numbers.
var ErrRange = errors.New("not a finite 64-bit number; the file is damaged, restore it or repeat the run")

// lines calls visit for each line of a file as a JSON object, which is valid only during the call. An incomplete last line, left by a killed run, is
// skipped.
func (r *Run) lines(name string, visit func(v *fastjson.Value) error) error {
	file, err := r.open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewScanner(file)
	in.Buffer(make([]byte, 1<<16), longest)
	var p fastjson.Parser
	var broken error // reported if another line follows
	for n := 1; in.Scan(); n++ {
		if broken != nil {
			return broken
		}
		if len(in.Bytes()) == 0 {
			continue
		}
		v, err := p.ParseBytes(in.Bytes())
		if err != nil {
			broken = fmt.Errorf("%s:%d: not valid JSON: %w; the file is damaged: restore it, or repeat the run", filepath.Join(r.Dir, name), n, jsontext.ParseFault(err))
			continue
		}
		if bad := jsontext.OutOfRange(in.Bytes()); bad != "" {
			return fmt.Errorf("%s:%d: the number %.40s is %w", filepath.Join(r.Dir, name), n, bad, ErrRange)
		}
		if err := visit(v); err != nil {
			return fmt.Errorf("%s:%d: %w", filepath.Join(r.Dir, name), n, err)
		}
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(r.Dir, name), err)
	}
	return nil
}
