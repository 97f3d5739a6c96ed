package htmlreport

import (
	"fmt"
	"net/http"
	"strconv"
)

// report serves the report of the run whose number is given.
func (d *Dashboard) report(w http.ResponseWriter, r *http.Request) {
	i, err := strconv.Atoi(r.FormValue("run"))
	if err != nil || i < 0 || i >= len(d.Runs) {
		http.Error(w, fmt.Sprintf("run=%s: there is no such run; numbers are 0 to %d", r.FormValue("run"), len(d.Runs)-1), http.StatusNotFound)
		return
	}
	text, err := Run(d.Runs[i], d.Version)
	servePage(w, text, err)
}

// systems serves the page that compares the runs as systems.
func (d *Dashboard) systems(w http.ResponseWriter, r *http.Request) {
	if d.Systems == nil {
		http.NotFound(w, r)
		return
	}
	text, err := d.Systems()
	servePage(w, text, err)
}

func servePage(w http.ResponseWriter, text []byte, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(text) // an error means that the client has gone
}
