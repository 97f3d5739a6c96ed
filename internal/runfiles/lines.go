package runfiles

import (
	"bufio"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/valyala/fastjson"

	"aiperf/internal/jsontext"
)

// ErrRange is the error of a file with a number that nobody can calculate with.
var ErrRange = errors.New("no finite number of 64 bits; the file is damaged: restore it, or repeat the run")

// lines visits the lines of a file as JSON objects; what is visited is valid until the visit ends. A last line without an end, of a run that
// was killed, is left out.
func (r *Run) lines(name string, visit func(v *fastjson.Value) error) error {
	file, err := r.open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewScanner(file)
	in.Buffer(make([]byte, 1<<16), longest)
	var p fastjson.Parser
	var broken error // told when another line follows
	for n := 1; in.Scan(); n++ {
		if broken != nil {
			return broken
		}
		if len(in.Bytes()) == 0 {
			continue
		}
		v, err := p.ParseBytes(in.Bytes())
		if err != nil {
			broken = fmt.Errorf("%s:%d: %w", filepath.Join(r.Dir, name), n, err)
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
