package mlops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// WandB is the destination of a report on a server of Weights & Biases (its GraphQL and file APIs, as its own SDK uses them).
type WandB struct {
	Base    string // of the API
	Key     string
	Project string
	Entity  string // "" = the entity of the key
	Tags    []string
	RunID   string
	Agent   string
}

// WandBase is the API of the public service.
const WandBase = "https://api.wandb.ai"

const upsertRun = `mutation UpsertBucket($name: String, $project: String, $entity: String, $displayName: String, $config: JSONString,
$tags: [String!], $summaryMetrics: JSONString, $state: String) { upsertBucket(input: {name: $name, modelName: $project, entityName: $entity,
displayName: $displayName, config: $config, tags: $tags, summaryMetrics: $summaryMetrics, state: $state}) {
bucket { id name project { name entity { name } } } inserted } }`

const createFiles = `mutation CreateRunFiles($entity: String!, $project: String!, $run: String!, $files: [String!]!) {
createRunFiles(input: {entityName: $entity, projectName: $project, runName: $run, files: $files}) {
uploadHeaders files { name uploadUrl } } }`

// Upload creates a run for the report.
func (w *WandB) Upload(ctx context.Context, r *Report) (sent Sent, err error) {
	if w.Key == "" {
		return sent, errors.New("WANDB_API_KEY is not set")
	}
	c := newClient(strings.TrimRight(w.Base, "/"), w.Agent, func(req *http.Request) { req.SetBasicAuth("api", w.Key) })
	config, summary := map[string]any{}, map[string]float64{}
	for _, p := range r.Params {
		if p.JSON != nil {
			config[p.Key] = map[string]any{"value": p.JSON} // a number stays one, so that runs can be sorted by it
			continue
		}
		config[p.Key] = map[string]any{"value": p.Value}
	}
	for _, m := range r.Metrics {
		summary[m.Key] = m.Value
	}
	configText, err := json.Marshal(config)
	if err != nil {
		return sent, err
	}
	summaryText, err := json.Marshal(summary)
	if err != nil {
		return sent, err
	}
	var entity any
	if w.Entity != "" {
		entity = w.Entity
	}
	var made struct {
		Upsert struct {
			Bucket struct {
				Name    string
				Project struct {
					Name   string
					Entity struct{ Name string }
				}
			}
		} `json:"upsertBucket"`
	}
	if err := c.graph(ctx, upsertRun, map[string]any{
		"name": w.RunID, "project": w.Project, "entity": entity, "displayName": r.Name, "config": string(configText), "tags": w.Tags, "summaryMetrics": string(summaryText),
		"state": "running",
	}, &made); err != nil {
		return sent, err
	}
	b := &made.Upsert.Bucket
	sent.RunID = b.Name
	at := url.PathEscape(b.Project.Entity.Name) + "/" + url.PathEscape(b.Project.Name) + "/" + url.PathEscape(b.Name)
	sent.URL = strings.Replace(c.base, "://api.", "://", 1) + "/" + strings.Replace(at, "/"+url.PathEscape(b.Name), "/runs/"+url.PathEscape(b.Name), 1)
	err = w.files(ctx, c, b.Project.Entity.Name, b.Project.Name, b.Name, r)
	exit := 0
	if r.Failed || r.Cancelled {
		exit = 1
	}
	end := c.json(ctx, http.MethodPost, "/files/"+at+"/file_stream", map[string]any{
		"files":    map[string]any{"wandb-summary.json": map[string]any{"offset": 0, "content": []string{string(summaryText)}}},
		"complete": true, "exitcode": exit,
	}, nil)
	return sent, errors.Join(err, end)
}

// files uploads files to the addresses that the server gives.
func (w *WandB) files(ctx context.Context, c *client, entity, project, run string, r *Report) error {
	if len(r.Files) == 0 {
		return nil
	}
	paths, names := map[string]string{}, []string{}
	for _, f := range r.Files {
		paths[f.Name] = f.Path
		names = append(names, f.Name)
	}
	var given struct {
		Create struct {
			Headers []string `json:"uploadHeaders"`
			Files   []struct {
				Name string
				URL  string `json:"uploadUrl"`
			}
		} `json:"createRunFiles"`
	}
	if err := c.graph(ctx, createFiles, map[string]any{"entity": entity, "project": project, "run": run, "files": names}, &given); err != nil {
		return err
	}
	store := newClient("", w.Agent, func(req *http.Request) { // without the key: the addresses are signed
		for _, h := range given.Create.Headers {
			if name, value, ok := strings.Cut(h, ":"); ok {
				req.Header.Set(name, strings.TrimSpace(value))
			}
		}
	})
	var errs []error
	for _, f := range given.Create.Files {
		path, asked := paths[f.Name]
		to, err := url.Parse(f.URL)
		base, baseErr := url.Parse(c.base)
		switch {
		case !asked || err != nil || baseErr != nil:
			errs = append(errs, fmt.Errorf("the server requested the unknown file %q", f.Name))
			continue
		case !to.IsAbs():
			to = base.ResolveReference(to)
		}
		errs = append(errs, store.put(ctx, to.String(), path))
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}

// graph sends a GraphQL query.
func (c *client) graph(ctx context.Context, query string, variables map[string]any, out any) error {
	var answer struct {
		Data   json.RawMessage
		Errors []struct{ Message string }
	}
	if err := c.json(ctx, http.MethodPost, "/graphql", map[string]any{"query": query, "variables": variables}, &answer); err != nil {
		return err
	}
	if len(answer.Errors) > 0 {
		return fmt.Errorf("the server answered: %.200s", answer.Errors[0].Message)
	}
	return json.Unmarshal(answer.Data, out)
}
