package archtest

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// TestLinkerDropsMethods: nothing in the built program looks methods up by name, as text/template does; the linker would have to keep every exported
// method of every package (8 MB). cobra imports it for templates of help, which we set none of, so that the linker drops it.
func TestLinkerDropsMethods(t *testing.T) {
	for line := range strings.Lines(linked()) {
		name, imports, _ := strings.Cut(line, ":")
		if (strings.Contains(imports, " text/template ") || strings.Contains(imports, " html/template ")) && name != "github.com/spf13/cobra" {
			t.Errorf("%s imports templates: write pages with internal/report/htmlgen", name)
		}
	}
	use := regexp.MustCompile(`\.Set(Help|Usage|Version)Template\(`)
	for name, source := range sources(t, "../../cli") {
		if use.MatchString(source) {
			t.Errorf("%s gives cobra a template", name)
		}
	}
}

// linked lists the packages of the program, each with its imports: "path: import import ". The tests share the list.
var linked = sync.OnceValue(func() string {
	out, err := exec.Command("go", "list", "-deps", "-f", `{{.ImportPath}}: {{join .Imports " "}} `, "aiperf/cmd/aiperf").Output()
	if err != nil {
		panic(err)
	}
	return string(out)
})

// keptOut lists packages and folders of packages that the program does without. Tests use most of them as second witnesses.
var keptOut = map[string]string{
	"github.com/apache/arrow-go":                         "2.9 MB and a sixth of a cold build; internal/workload/dataset/table/arrow reads Arrow files",
	"github.com/Eyevinn/mp4ff":                           "0.8 MB; internal/workload/dataset/media/mp4.go writes the boxes",
	"gonum.org/v1/gonum/mat":                             "LAPACK; internal/measure/stats/solve.go solves small systems",
	"gonum.org/v1/gonum/stat":                            "imports mat; internal/measure/stats/distributions.go has the quantiles",
	"go.opentelemetry.io":                                "2.2 MB; internal/telemetry/otlp writes the messages",
	"google.golang.org/grpc":                             "2 MB; internal/wire/transport/rpc and internal/sim/mockserver speak gRPC",
	"google.golang.org/protobuf":                         "1.4 MB and a millisecond of every start; internal/base/protobuf has the wire format and the JSON form",
	"aiperf/internal/wire/openinference/openinferencepb": "generated messages, the second witness of internal/wire/openinference",
	"github.com/NVIDIA/go-nvml":                          "a static program cannot load NVML; internal/telemetry/gpu asks nvidia-smi",
	"k8s.io":                                             "3.8 MB and 116 packages; internal/run/kubeclient speaks with the API server, internal/run/kubeconfig finds it",
	"sigs.k8s.io":                                        "as k8s.io",
	"aiperf/internal/sim/selfbench":                      "a program of its own, for make bench",
	"aiperf/internal/base/testrecording":                 "helpers of tests",
	"aiperf/internal/text/tokenizer/crosscheck":          "a program of its own, for make test-wide",
}

// TestKeptOut: packages that were dropped for their weight are not linked again.
func TestKeptOut(t *testing.T) {
	for line := range strings.Lines(linked()) {
		name, _, _ := strings.Cut(line, ":")
		for prefix, why := range keptOut {
			if name == prefix || strings.HasPrefix(name, prefix+"/") {
				t.Errorf("%s is linked: %s", name, why)
			}
		}
	}
}

// sources are the Go files below a directory, by path.
func sources(t *testing.T, dir string) map[string]string {
	t.Helper()
	list := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		list[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
