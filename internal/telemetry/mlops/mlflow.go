package mlops

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// MLflow is the destination of a report on an MLflow server (REST API 2.0).
type MLflow struct {
	URI        string // http or https
	Experiment string
	Parent     string // id of the parent run; "" = none
	Tags       map[string]string
	User       string // credentials: a token, or a user and a password
	Password   string
	Token      string
	Agent      string
}

// Sent holds the ids and the URL of an uploaded report.
type Sent struct{ ExperimentID, RunID, URL string }

// Limits of the API: entries of one runs/log-batch, and bytes of a parameter's value that every version accepts.
const (
	maxMetrics = 1000
	maxParams  = 100
	maxValue   = 500
)

type pair struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

type measured struct {
	Key       string  `json:"key"`
	Value     float64 `json:"value"`
	Timestamp int64   `json:"timestamp"` // ms
	Step      int     `json:"step"`
}

// client returns a client with the given credentials.
func (m *MLflow) client() (*client, error) {
	u, err := url.Parse(strings.TrimRight(m.URI, "/"))
	if err != nil {
		return nil, err
	}
	user, password := m.User, m.Password
	if u.User != nil {
		user = u.User.Username()
		password, _ = u.User.Password()
		u.User = nil
	}
	return newClient(u.String(), m.Agent, func(req *http.Request) {
		switch {
		case m.Token != "":
			req.Header.Set("Authorization", "Bearer "+m.Token)
		case user != "":
			req.SetBasicAuth(user, password)
		}
	}), nil
}

// Add uploads files to an existing run.
func (m *MLflow) Add(ctx context.Context, run string, files []File) error {
	c, err := m.client()
	if err != nil {
		return err
	}
	var found struct {
		Run struct {
			Info struct {
				Artifacts string `json:"artifact_uri"`
			}
		}
	}
	if err := c.json(ctx, http.MethodGet, "/api/2.0/mlflow/runs/get?run_id="+url.QueryEscape(run), nil, &found); err != nil {
		return err
	}
	return m.files(ctx, c, found.Run.Info.Artifacts, files)
}

// Upload creates a run for the report. A run that was created is also ended, even if other steps fail; the error lists the failed steps.
func (m *MLflow) Upload(ctx context.Context, r *Report) (sent Sent, err error) {
	c, err := m.client()
	if err != nil {
		return sent, err
	}
	if sent.ExperimentID, err = m.experiment(ctx, c); err != nil {
		return sent, err
	}
	tags := []pair{{"mlflow.source.name", "aiperf"}, {"mlflow.source.type", "LOCAL"}}
	if m.Parent != "" {
		tags = append(tags, pair{"mlflow.parentRunId", m.Parent})
	}
	for _, key := range slices.Sorted(maps.Keys(m.Tags)) {
		tags = append(tags, pair{key, m.Tags[key]})
	}
	var made struct {
		Run struct {
			Info struct {
				ID        string `json:"run_id"`
				Artifacts string `json:"artifact_uri"`
			}
		}
	}
	if err := c.json(ctx, http.MethodPost, "/api/2.0/mlflow/runs/create", map[string]any{
		"experiment_id": sent.ExperimentID, "run_name": r.Name, "start_time": r.Start.UnixMilli(), "tags": tags,
	}, &made); err != nil {
		return sent, err
	}
	sent.RunID = made.Run.Info.ID
	sent.URL = c.base + "/#/experiments/" + sent.ExperimentID + "/runs/" + sent.RunID
	err = errors.Join(m.figures(ctx, c, sent.RunID, r), m.files(ctx, c, made.Run.Info.Artifacts, r.Files))
	status := "FINISHED"
	switch {
	case r.Cancelled:
		status = "KILLED"
	case r.Failed:
		status = "FAILED"
	}
	end := c.json(ctx, http.MethodPost, "/api/2.0/mlflow/runs/update", map[string]any{"run_id": sent.RunID, "status": status, "end_time": r.End.UnixMilli()}, nil)
	return sent, errors.Join(err, end)
}

// experiment finds the experiment, or creates it.
func (m *MLflow) experiment(ctx context.Context, c *client) (string, error) {
	var found struct {
		Experiment struct {
			ID string `json:"experiment_id"`
		}
	}
	err := c.json(ctx, http.MethodGet, "/api/2.0/mlflow/experiments/get-by-name?experiment_name="+url.QueryEscape(m.Experiment), nil, &found)
	if status := (*statusError)(nil); errors.As(err, &status) && status.status == http.StatusNotFound {
		var made struct {
			ID string `json:"experiment_id"`
		}
		err = c.json(ctx, http.MethodPost, "/api/2.0/mlflow/experiments/create", map[string]string{"name": m.Experiment}, &made)
		return made.ID, err
	}
	return found.Experiment.ID, err
}

// figures uploads metrics and settings in batches.
func (m *MLflow) figures(ctx context.Context, c *client, run string, r *Report) error {
	var metrics []measured
	for _, one := range r.Metrics {
		metrics = append(metrics, measured{Key: one.Key, Value: one.Value, Timestamp: r.End.UnixMilli()})
	}
	var params []pair
	for _, one := range r.Params {
		params = append(params, pair{one.Key, strings.ToValidUTF8(one.Value[:min(len(one.Value), maxValue)], "")})
	}
	batch := func(body map[string]any) error {
		body["run_id"] = run
		return c.json(ctx, http.MethodPost, "/api/2.0/mlflow/runs/log-batch", body, nil)
	}
	var errs []error
	for part := range slices.Chunk(metrics, maxMetrics) {
		errs = append(errs, batch(map[string]any{"metrics": part}))
	}
	for part := range slices.Chunk(params, maxParams) {
		errs = append(errs, batch(map[string]any{"params": part}))
	}
	return errors.Join(errs...)
}

// files uploads files through the server.
func (m *MLflow) files(ctx context.Context, c *client, to string, files []File) error {
	if len(files) == 0 {
		return nil
	}
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "mlflow-artifacts" && u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("files are not uploaded: the server expects clients to write them to %s directly", place(to))
	}
	base := c.base + "/api/2.0/mlflow-artifacts/artifacts" + strings.TrimRight(u.Path, "/") + "/"
	if u.Scheme != "mlflow-artifacts" {
		base = strings.TrimRight(to, "/") + "/"
	}
	var errs []error
	for _, f := range files {
		errs = append(errs, c.put(ctx, base+escapePath(f.Name), f.Path))
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}

// escapePath escapes a path with slashes.
func escapePath(name string) string { return (&url.URL{Path: name}).EscapedPath() }
