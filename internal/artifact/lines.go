package artifact

// Lines is a file of lines that something beside the requests writes while the run goes on. It is made with its first line. It is not safe for
// concurrent use.
type Lines struct {
	path string
	file *stream
	err  error
}

// NewLines names the file; nothing is made yet.
func NewLines(path string) *Lines { return &Lines{path: path} }

// Write appends a whole line. What fails is told by Close.
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

// Close completes the file, if there is one.
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
