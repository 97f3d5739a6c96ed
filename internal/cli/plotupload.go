package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"aiperf/internal/base/setting"
	"aiperf/internal/report/artifact"
	"aiperf/internal/report/plots"
	"aiperf/internal/telemetry/mlops"
)

// plotUpload is the destination of the images: a run of an MLflow server; nil = none.
type plotUpload struct {
	to  mlops.MLflow
	run string
}

// plotUploadOf reads the destination of images from the flags, then the environment, then the file that an upload of the run wrote to its directory.
func (p *Program) plotUploadOf(set *setting.CommandLine, dir string) (*plotUpload, error) {
	if !set.True("--mlflow-upload", false) {
		for _, name := range []string{"--mlflow-tracking-uri", "--mlflow-run-id"} {
			if set.Has(name) {
				return nil, fmt.Errorf("%s needs --mlflow-upload", set.Spelled(name))
			}
		}
		return nil, nil
	}
	if set.True("--dashboard", false) {
		return nil, errors.New("--mlflow-upload uploads images; --dashboard makes none")
	}
	var left struct {
		URI string `json:"tracking_uri"`
		Run string `json:"run_id"`
	}
	if text, err := os.ReadFile(artifact.NewLayout(dir, "").MLflow()); err == nil {
		if err := json.Unmarshal(text, &left); err != nil {
			return nil, fmt.Errorf("%s: %w", artifact.NewLayout(dir, "").MLflow(), err)
		}
	}
	env := func(name string) string { return lookup(p.Environ, name) }
	u := &plotUpload{run: cmp.Or(set.Text("--mlflow-run-id", ""), env("MLFLOW_RUN_ID"), left.Run)}
	u.to = mlops.MLflow{
		URI: strings.TrimSpace(cmp.Or(set.Text("--mlflow-tracking-uri", ""), env("MLFLOW_TRACKING_URI"), left.URI)), Agent: "aiperf/" + Version(),
		User: env("MLFLOW_TRACKING_USERNAME"), Password: env("MLFLOW_TRACKING_PASSWORD"), Token: env("MLFLOW_TRACKING_TOKEN"),
	}
	at, err := url.Parse(u.to.URI)
	switch {
	case u.to.URI == "":
		return nil, errors.New("--mlflow-upload: no MLflow server is known; give one with --mlflow-tracking-uri")
	case err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "":
		return nil, errors.New("--mlflow-tracking-uri: must be http://HOST:PORT or https://HOST")
	case u.run == "":
		return nil, errors.New("--mlflow-upload: no MLflow run is known; give one with --mlflow-run-id")
	}
	return u, nil
}

// send uploads the images of a set below plots/.
func (u *plotUpload) send(ctx context.Context, p *Program, set *plots.Set, o *plotCall) error {
	var files []mlops.File
	for _, c := range set.Charts {
		for _, format := range o.formats {
			name := c.Name + "." + format
			files = append(files, mlops.File{Path: filepath.Join(o.output, name), Name: "plots/" + name})
		}
	}
	if err := u.to.Add(ctx, u.run, files); err != nil {
		return fmt.Errorf("--mlflow-upload: %w", err)
	}
	fmt.Fprintf(p.Out, "Uploaded %s to MLflow run %s\n", plots.Count(len(set.Charts)), u.run)
	return nil
}
