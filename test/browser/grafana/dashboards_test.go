// Package grafana reads the dashboards of the examples with the types that Grafana generates from its own schema.
package grafana

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// faults returns what the schema refuses in a dashboard: unknown fields, missing ones and wrong types, down to the options of each panel and query.
func faults(text []byte) string {
	plugins.RegisterDefaultPlugins()
	var d dashboard.Dashboard
	if err := d.UnmarshalJSONStrict(text); err != nil && err.Error() != "" { // without a fault it is an error without text
		return err.Error()
	}
	if err := d.Validate(); err != nil {
		return err.Error()
	}
	return ""
}

// TestDashboards: the schema accepts every dashboard, and refuses it as soon as a field of a panel, a query or the dashboard has another name.
func TestDashboards(t *testing.T) {
	found, err := filepath.Glob("../../../examples/*/grafana/*.json")
	if err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	for _, path := range found {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if fault := faults(text); fault != "" {
			t.Errorf("%s: %s", path, fault)
		}
		for old, wrong := range map[string]string{`"gridPos"`: `"gridPosition"`, `"fillOpacity"`: `"opacity"`, `"expr"`: `"expression"`, `"refresh": "5s"`: `"refresh": 5`, `"annotations"`: `"notes"`} {
			changed := strings.Replace(string(text), old, wrong, 1)
			if changed == string(text) {
				t.Errorf("%s has no %s", path, old)
			}
			if faults([]byte(changed)) == "" {
				t.Errorf("%s: %s is accepted", path, wrong)
			}
		}
	}
}
