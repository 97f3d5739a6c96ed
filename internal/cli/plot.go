package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/base/redact"
	"aiperf/internal/base/setting"
	"aiperf/internal/config"
	"aiperf/internal/report/artifact"
	"aiperf/internal/report/chart"
	"aiperf/internal/report/plots"
	"aiperf/internal/report/runfiles"
)

// plotTable returns the flags of plot.
func plotTable() *setting.Table {
	return setting.NewTable(append([]setting.Row{
		{Flags: []string{"--paths"}, FalseNames: nil, Kind: setting.Path, Folder: true, List: true, Whole: true, Default: "./artifacts", Help: "run directories or their parent directories; the flag name is optional"},
		{Flags: []string{"--empty-paths"}, Kind: setting.Bool, Help: "use only directories given without a flag"},
		{Flags: []string{"--output"}, Kind: setting.Path, Folder: true, Default: "<first path>/plots", Help: "output directory of the images; created if missing"},
		{Flags: []string{"--theme"}, Kind: setting.Enum, Choices: []string{"light", "dark"}, Default: "light", Help: "colours"},
		{Flags: []string{"--config"}, Kind: setting.Path, Default: "~/.aiperf/plot_config.yaml, else the shipped settings", Help: "settings file: which plots to draw, and how"},
		{Flags: []string{"--write-config"}, Kind: setting.Path, Help: "write the shipped settings to this file for editing, then exit"},
		{Flags: []string{"--format"}, Kind: setting.Enum, Choices: []string{plots.PNG, plots.SVG}, Default: plots.PNG, List: true, Help: "formats of the images"},
		{Flags: []string{"--size"}, Kind: setting.Enum, Choices: []string{"small", "medium", "large"}, Default: "large", Help: "size of PNG images: 800x400, 1600x800, 2400x1200 pixels"},
		{Flags: []string{"--dump-charts"}, Kind: setting.Path, Help: "also write the data of the images, as JSON"},
		{Flags: []string{"--verbose"}, FalseNames: []string{"--no-verbose"}, Kind: setting.Bool, Help: "also show the log on standard error"},
		{Flags: []string{"--dashboard"}, FalseNames: []string{"--no-dashboard"}, Kind: setting.Bool, Help: "serve reports, comparisons and editable plots of the runs instead of writing images"},
		{Flags: []string{"--host"}, Kind: setting.Text, Default: "127.0.0.1", Help: "address of the dashboard"},
		{Flags: []string{"--port"}, Kind: setting.Int, Bounds: ">= 0, <= 65535", Default: "8050", Help: "port of the dashboard; 0 = any free port"},
		{Secret: redact.Secret, Flags: []string{"--api-token"}, Kind: setting.Text, Help: "access token of the dashboard [default: random, part of the printed URL]"},
		{Flags: []string{"--mlflow-upload"}, FalseNames: []string{"--no-mlflow-upload"}, Kind: setting.Bool, Help: "upload the images to an MLflow run"},
		{Secret: redact.Address, Flags: []string{"--mlflow-tracking-uri"}, Kind: setting.Text, Help: "MLflow server [default: MLFLOW_TRACKING_URI, else the server of the run's upload]"},
		{Flags: []string{"--mlflow-run-id"}, Kind: setting.Text, Help: "MLflow run [default: MLFLOW_RUN_ID, else the run's upload]"},
		{Flags: []string{"--html"}, Kind: setting.Bool, Help: "write systems.html, one offline page that compares systems, instead of images"},
	}, systemRows()...))
}

const plotLong = "Draws charts of finished runs as images, without a browser. One run is plotted over its requests and its time; of several runs, each is one point. " +
	"A run is a directory with profile_export.jsonl and profile_export_aiperf.json; a parent directory stands for all runs below it.\n\n" +
	"--html writes one page instead, for comparing systems: each directory is a system, and each setting that was measured is a point. " +
	"It shows throughput per GPU against the speed per user, latency against load, cost, energy, and the best point within limits.\n\n" +
	"A plot without data is skipped with a warning. The settings file lists the plots (aiperf plot --write-config FILE writes a copy to edit)."

// plotCommand builds the command that draws charts.
func (p *Program) plotCommand() *cobra.Command {
	return p.command(tableCommand{
		use: "plot [RUN-DIR…]", short: "charts of one or more runs", long: plotLong, table: plotTable, bare: cobra.ShellCompDirectiveFilterDirs, words: true,
		run: func(cmd *cobra.Command, set *setting.CommandLine, _ []string) error {
			if path := set.Text("--write-config", ""); path != "" {
				return p.writePlotConfig(path)
			}
			o := plotCall{
				paths: set.Words, theme: set.Text("--theme", "light"), size: set.Text("--size", "large"), formats: set.Texts("--format"), dump: set.Text("--dump-charts", ""),
				output: set.Text("--output", ""), verbose: set.True("--verbose", false), token: set.Text("--api-token", ""),
			}
			if !set.True("--empty-paths", false) {
				o.paths = append(o.paths, set.Texts("--paths")...)
			}
			if len(o.paths) == 0 {
				o.paths = []string{"artifacts"}
			}
			if set.True("--html", false) {
				if set.True("--dashboard", false) {
					return errors.New("--html and --dashboard exclude each other: one writes a page, the other serves one; leave one out")
				}
				for _, flag := range []string{"--theme", "--config", "--format", "--size", "--dump-charts", "--mlflow-upload", "--host", "--port", "--api-token"} {
					if set.Has(flag) {
						p.warnf("%s has no effect with --html", flag)
					}
				}
				return p.systemsPage(set, o.paths, cmp.Or(o.output, filepath.Join(o.paths[0], "plots")))
			}
			for _, flag := range systemFlags() {
				if set.Has(flag) {
					return fmt.Errorf("%s: only the page of systems uses it; add --html", flag)
				}
			}
			var err error
			if o.upload, err = p.plotUploadOf(set, o.paths[0]); err != nil {
				return err
			}
			if err := checkPlotPaths(o.paths); err != nil {
				return err
			}
			if o.config, err = p.plotConfig(set.Text("--config", ""), o.paths[0]); err != nil {
				return err
			}
			if set.True("--dashboard", false) {
				port := int64(8050)
				if given := set.Ints("--port"); len(given) > 0 {
					port = given[0]
				}
				o.theme = set.Text("--theme", "")
				return p.dashboard(cmd.Context(), &o, set.Text("--host", "127.0.0.1"), port)
			}
			for _, flag := range []string{"--host", "--port", "--api-token"} {
				if set.Has(flag) {
					p.warnf("%s has no effect without --dashboard", flag)
				}
			}
			return p.plot(cmd.Context(), &o)
		},
	})
}

// plotCall holds the options of one call of plot.
type plotCall struct {
	paths       []string
	config      *plots.Config
	presets     []string // replaces the defaults; nil = use them
	theme, size string
	token       string // for the dashboard; "" = a random one
	formats     []string
	output      string // "" = plots/ below the first path
	dump        string
	verbose     bool
	upload      *plotUpload // nil = none
}

// homePlotConfig is the path of the user's settings file, below the home directory.
var homePlotConfig = filepath.Join(".aiperf", "plot_config.yaml")

// plotConfig reads the settings: from the given file, or that of the run or series in dir, or the user's, or the built-in ones.
func (p *Program) plotConfig(path, dir string) (*plots.Config, error) {
	if own := filepath.Join(dir, runPlotConfig); path == "" && regular(own) {
		path = own
	}
	if path != "" {
		text, err := boundedfile.ReadAll(path, 16<<20)
		if err != nil {
			return nil, fmt.Errorf("--config: %w", err)
		}
		fmt.Fprintf(p.Out, "Using config: %s\n", path)
		return plots.ParseConfig(text, path)
	}
	if home := lookup(p.Environ, "HOME"); home != "" {
		path := filepath.Join(home, homePlotConfig)
		text, err := os.ReadFile(path)
		switch {
		case err == nil:
			fmt.Fprintf(p.Out, "Using config: %s\n", path)
			return plots.ParseConfig(text, path)
		case !errors.Is(err, fs.ErrNotExist):
			p.warnf("%v: using the shipped settings", err)
		}
	}
	fmt.Fprintln(p.Out, "Using config: the shipped settings (aiperf plot --write-config FILE writes a copy to edit)")
	return plots.ParseConfig(plots.Default, "the shipped settings")
}

// runPlotConfig is the settings file in the directory of a run that has settings for plots.
const runPlotConfig = ".aiperf-plot-config.yaml"

// autoPlot draws the plots of a finished run or series. It fails the command only if the plots are required.
func (p *Program) autoPlot(ctx context.Context, run *config.Run, genaiPerf bool) int {
	o := plotCall{paths: []string{run.Artifacts.Dir}, theme: "light", size: "large"}
	if genaiPerf {
		o.presets = plots.GenAIPerf
	}
	err := func() (err error) {
		if !run.Plot.IsZero() {
			text, err := yaml.Marshal(&run.Plot)
			if err != nil {
				return err
			}
			if err := artifact.WriteFile(filepath.Join(run.Artifacts.Dir, runPlotConfig), text); err != nil {
				return err
			}
		}
		if err := checkPlotPaths(o.paths); err != nil {
			return err
		}
		if genaiPerf { // GenAI-Perf's five plots are only in the built-in settings
			o.config, err = plots.ParseConfig(plots.Default, "the shipped settings")
		} else {
			o.config, err = p.plotConfig("", run.Artifacts.Dir)
		}
		if err != nil {
			return err
		}
		return p.plot(ctx, &o)
	}()
	switch {
	case err == nil:
		return 0
	case run.Artifacts.PlotRequired:
		p.errorf("plots: %v", err)
		return 1
	}
	p.warnf("no plots: %v", err)
	return 0
}

// writePlotConfig writes the built-in settings to a new file.
func (p *Program) writePlotConfig(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fmt.Errorf("--write-config: %w", err)
	}
	_, err = f.Write(plots.Default)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("--write-config: %w", err)
	}
	fmt.Fprintf(p.Out, "Settings written to %s\n", path)
	return nil
}

// checkPlotPaths returns an error unless the paths are directories with a run. Nothing is written or printed before.
func checkPlotPaths(paths []string) error {
	for _, path := range paths {
		switch info, err := os.Stat(path); {
		case err != nil:
			return boundedfile.Named(path, err)
		case !info.IsDir():
			return fmt.Errorf("%s is not a directory", path)
		}
	}
	_, err := runfiles.Find(paths, func(string, ...any) {})
	return err
}

// plot draws and writes the charts. The paths were checked.
func (p *Program) plot(ctx context.Context, o *plotCall) error {
	if o.output == "" {
		o.output = filepath.Join(o.paths[0], "plots")
	}
	if len(o.formats) == 0 {
		o.formats = []string{plots.PNG}
	}
	if err := os.MkdirAll(o.output, 0o777); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	log, logPath, err := p.plotLog(o)
	if err != nil {
		return err
	}
	defer log.Close()
	sink := io.Writer(log)
	if o.verbose {
		sink = io.MultiWriter(log, p.Err)
	}
	logger := slog.New(slog.NewTextHandler(sink, nil))
	warn := func(format string, args ...any) {
		p.warnf(format, args...)
		logger.Warn(fmt.Sprintf(format, args...))
	}
	set, err := plots.Make(plots.Options{Paths: o.paths, Config: o.config, Theme: o.theme, Presets: o.presets, Warn: warn, Log: logger})
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = set.Write(o.output, o.theme, o.size, o.formats)
	}
	if err == nil && o.dump != "" {
		err = dumpCharts(o.dump, set.Charts, "."+o.formats[0])
	}
	if err != nil {
		logger.Error(err.Error())
		return err
	}
	fmt.Fprintf(p.Out, "\nSaved %s to: %s\nLogs: %s\n", plots.Count(len(set.Charts)), o.output, logPath)
	if len(set.Charts) == 0 {
		return errors.New("no plot could be drawn")
	}
	if o.upload != nil {
		return o.upload.send(ctx, p, set, o)
	}
	return nil
}

// dumpCharts writes the data of the images.
func dumpCharts(path string, charts []*chart.Chart, ending string) error {
	text, err := chart.Dump(charts, ending)
	if err == nil {
		err = artifact.WriteFile(path, text)
	}
	if err != nil {
		return fmt.Errorf("--dump-charts: %w", err)
	}
	return nil
}

// plotLog opens the log next to the images, or below the home directory if that is not writable.
func (p *Program) plotLog(o *plotCall) (*os.File, string, error) {
	places := []string{filepath.Join(o.output, "aiperf_plot.log")}
	if home := lookup(p.Environ, "HOME"); home != "" {
		places = append(places, filepath.Join(home, ".aiperf", "plot.log"))
	}
	var errs []error
	for _, path := range slices.Compact(places) {
		f, err := os.Create(path)
		if err == nil {
			return f, path, nil
		}
		errs = append(errs, err)
	}
	return nil, "", fmt.Errorf("--output: %w", errors.Join(errs...))
}
