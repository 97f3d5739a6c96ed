package artifact

// Lines is a file of lines that is written during a run by something other than the requests. It is created with its first line. It is not safe for
// concurrent use.
type Lines struct {
	path string
	file *stream
	err  error
}

// NewLines sets the path of the file; it does not create it yet.
func NewLines(path string) *Lines { return &Lines{path: path} }

// Write appends a whole line. Close returns its errors.
func (l *Lines) Write(line []byte) {
	if l.err != nil {
		return
	}
	if l.file == nil {
		if l.file, l.err = create(l.path, false); l.err != nil {
			return
		}
	}
	l.err = l.file.Write(line)
}

// Close completes the file, if it was created.
func (l *Lines) Close() error {
	if l.file == nil {
		return l.err
	}
	err := l.file.Close()
	l.file = nil
	if l.err == nil {
		l.err = err
	}
	return l.err
}
