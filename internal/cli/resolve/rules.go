package resolve

import (
	"crypto/rand"
	"encoding/binary"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/setting"
	"aiperf/internal/config"
	"aiperf/internal/run/rules"
)

// check applies the rules for combinations of settings; all findings are reported.
func (r *resolver) check() {
	r.objectives()
	r.contradictions()
	subject := r.subject()
	if r.load.promoted {
		subject.Promoted = "the fixed schedule of " + r.spelled("--input-file") + " " + r.run.Dataset().Path + " (its rows have times; --no-fixed-schedule turns it off)"
	}
	r.addFindings(rules.Check(subject))
}

// subject returns the run for the rules.
func (r *resolver) subject() *rules.Subject {
	return &rules.Subject{Run: r.run, Endpoint: r.endpoint, File: r.file, Given: r.written, Mentioned: r.mentioned, Spell: r.spell}
}

// lock applies the settings of the scenario.
func (r *resolver) lock() {
	if p := r.run.Profiling(); p != nil && r.run.Scenario != "" && p.WarmupGrace == nil {
		if s := r.set.Floats("--warmup-grace-period"); s != nil {
			p.WarmupGrace = ptr(config.Seconds(s[0]))
		}
	}
	r.addFindings(rules.Lock(r.subject(), func() config.Seed {
		var b [8]byte
		_, _ = rand.Read(b[:]) // never fails
		return config.Seed(strconv.FormatUint(binary.BigEndian.Uint64(b[:])>>1, 10))
	}))
}

// addFindings adds the findings of the rules.
func (r *resolver) addFindings(all []rules.Finding) {
	for _, found := range all {
		if found.Warning {
			r.warn("%s", found.Text)
		} else {
			r.fail("%s", found.Text)
		}
	}
}

// mentioned reports whether the user gave a setting, whatever its value.
func (r *resolver) mentioned(key string) bool {
	return slices.ContainsFunc(config.RowsOf(key), func(row setting.Row) bool { return row.Name() != "" && r.set.Get(row.Name()) != nil }) || r.run.Written(r.run.LongKey(key))
}

// written lists the settings at or below a key that the user gave, see rules.Subject.
func (r *resolver) written(key string) (list []rules.Setting) {
	for i := range Flags.Rows {
		f := &Flags.Rows[i]
		if isBelow(f.Key, key) && r.has(f.Name()) && !(f.Kind == setting.Bool && f.Default == "" && !r.on(f.Name())) {
			list = append(list, rules.Setting{Text: r.spelled(f.Name())})
		}
	}
	path := r.run.LongKey(key)
	if len(list) == 0 && r.run.Written(path) && !reflect.DeepEqual(r.run.Lookup(key), standard.Lookup(key)) {
		list = append(list, rules.Setting{Text: r.place(path), InFile: true})
	}
	return list
}

// isBelow reports whether a key is another one or lies below it. Rules ask for every row, so it makes no text.
func isBelow(key, other string) bool {
	return strings.HasPrefix(key, other) && (len(key) == len(other) || key[len(other)] == '.')
}

// standard is the default run.
var standard = config.Default()
