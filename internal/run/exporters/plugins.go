package exporters

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"aiperf/internal/base/plugin"
	"aiperf/internal/base/plugin/program"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/artifact"
)

// Category is the category of plug-ins that write files with the results of a run.
const Category = "data_exporter"

// PluginOptions are the results that plug-ins export.
type PluginOptions struct {
	Layout artifact.Layout
	Config []byte // the configuration as the summary shows it; nil = unknown
	Log    func(line string)
	Warn   func(text string)
}

// WithPlugins lets every plug-in that is a data exporter write its files and adds them to those of the run. A plug-in that fails is reported; it changes
// nothing else. An interrupted run is exported, too: the deadlines of the calls bound the time.
func WithPlugins(ctx context.Context, run *metric.Run, o PluginOptions) {
	set := plugin.Installed()
	for _, e := range set.Of(Category) {
		if !e.Runs() {
			continue
		}
		files, err := export(context.WithoutCancel(ctx), &e, run, o)
		if err != nil {
			o.Warn("no files of a data exporter: " + err.Error())
		}
		run.Files = append(run.Files, files...)
	}
}

// export runs one plug-in.
func export(ctx context.Context, e *plugin.Entry, run *metric.Run, o PluginOptions) ([]metric.File, error) {
	params, err := o.params(run)
	if err != nil {
		return nil, err
	}
	p, err := program.Start(ctx, program.Of(e, o.Log, "export"))
	if err != nil {
		return nil, err
	}
	var answer struct {
		Files []struct{ Path, Description string } `json:"files"`
	}
	if err := p.Call(ctx, "export", params, &answer); err != nil {
		return nil, errors.Join(err, closeQuietly(p, err))
	}
	var files []metric.File
	for _, f := range answer.Files {
		path := f.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(o.Layout.Dir, path)
		}
		if _, missing := os.Stat(path); f.Path == "" || missing != nil {
			err = errors.Join(err, &program.Error{Plugin: e.ID(), Method: "export", Err: fmt.Errorf("there is no file %q, which the result lists", f.Path)})
			continue
		}
		kind := f.Description
		if kind == "" {
			kind = "Plug-in " + e.Name
		}
		files = append(files, metric.File{Kind: kind, Path: path})
	}
	return files, errors.Join(err, p.Close())
}

// closeQuietly ends a program whose call failed. Its fault, if it has one, is the failure of the call.
func closeQuietly(p *program.Program, failure error) error {
	err := p.Close()
	var fault *program.Fault
	if errors.As(failure, &fault) {
		return nil
	}
	return err
}

// params are what an exporter gets.
func (o *PluginOptions) params(run *metric.Run) (map[string]any, error) {
	dir, err := filepath.Abs(o.Layout.Dir) // the program works in the directory of its manifest
	if err != nil {
		return nil, err
	}
	summary, err := artifact.SummaryJSON(run)
	if err != nil {
		return nil, err
	}
	params := map[string]any{"artifact_directory": dir, "summary": json.RawMessage(o.Layout.Secrets.JSON(summary)), "records": nil, "config": map[string]any{}}
	if path, err := filepath.Abs(o.Layout.Records()); err == nil {
		if _, err := os.Stat(path); err == nil {
			params["records"] = path
		}
	}
	if len(o.Config) > 0 {
		params["config"] = json.RawMessage(o.Layout.Secrets.JSON(o.Config))
	}
	return params, nil
}
