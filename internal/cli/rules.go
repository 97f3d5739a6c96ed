package cli

import (
	"reflect"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/rules"
	"aiperf/internal/setting"
)

// check applies what is said about settings that stand beside each other; all findings are reported.
func (r *resolver) check() {
	r.objectives()
	r.contradictions()
	subject := &rules.Subject{Run: r.run, Endpoint: r.endpoint, File: r.file, Given: r.written, Spell: r.spell}
	if r.load.promoted {
		subject.Promoted = "the fixed schedule of " + r.as("--input-file") + " " + r.run.Dataset().Path + " (its rows have times; --no-fixed-schedule turns it off)"
	}
	for _, found := range rules.Check(subject) {
		if found.Warning {
			r.warn("%s", found.Text)
		} else {
			r.fail("%s", found.Text)
		}
	}
}

// written lists the settings at or below a key that the user wrote, see rules.Subject.
func (r *resolver) written(key string) (list []rules.Setting) {
	for i := range profileTable.Rows {
		f := &profileTable.Rows[i]
		below := f.Key == key || strings.HasPrefix(f.Key, key+".")
		if below && r.has(f.Name()) && !(f.Kind == setting.Bool && f.Default == "" && !r.on(f.Name())) {
			list = append(list, rules.Setting{Text: r.as(f.Name())})
		}
	}
	path := r.run.LongKey(key)
	if len(list) == 0 && r.run.Written(path) && !reflect.DeepEqual(r.run.Lookup(key), standard.Lookup(key)) {
		list = append(list, rules.Setting{Text: r.place(path), InFile: true})
	}
	return list
}

// standard is what a run is when nobody says anything.
var standard = config.Default()
