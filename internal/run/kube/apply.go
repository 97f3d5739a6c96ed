package kube

import (
	"context"
	"fmt"
)

// kinds are the kinds of the objects of a run. Deleting the first deletes the others, unless they were applied from manifests.
var kinds = []string{"Job", "ConfigMap", "Secret", "Service"}

// Apply creates the objects of a run. If one cannot be created, the others are deleted again.
func Apply(ctx context.Context, c Cluster, s *Spec, keys map[string][]byte) error {
	controller, err := c.Create(ctx, s.Controller())
	if err != nil {
		return conflict(s, c, err)
	}
	owner := []any{Object{"apiVersion": "batch/v1", "kind": "Job", "name": text(controller, "metadata", "name"), "uid": text(controller, "metadata", "uid")}}
	for _, o := range []Object{s.Secret(keys), s.configMap(), s.service(), s.workers()} {
		if meta, ok := o["metadata"].(Object); ok {
			meta["ownerReferences"] = owner
		}
		if _, err := c.Create(ctx, o); err != nil {
			if undo := c.Delete(context.WithoutCancel(ctx), "Job", text(controller, "metadata", "name")); undo != nil {
				err = fmt.Errorf("%w (what was made could not be deleted: %w)", err, undo)
			}
			return conflict(s, c, err)
		}
	}
	return nil
}

// conflict says what to do when a run of the same name exists.
func conflict(s *Spec, c Cluster, err error) error {
	if Is(err, Exists) {
		return fmt.Errorf("namespace %s has a run %s already; choose another name, or delete it: aiperf kube delete %s", c.Namespace(), s.Name, s.Name)
	}
	return err
}

// Remove deletes the objects of a run. It returns how many there were.
func Remove(ctx context.Context, c Cluster, run string) (int, error) {
	n := 0
	for _, kind := range kinds {
		objects, err := c.List(ctx, kind, RunLabel+"="+run, "")
		if err != nil {
			return n, err
		}
		for _, o := range objects {
			switch err := c.Delete(ctx, kind, text(o, "metadata", "name")); {
			case err == nil:
				n++
			case !Is(err, NotFound):
				return n, err
			}
		}
	}
	return n, nil
}

// ObjectsOf returns the objects of a run without its Secret.
func ObjectsOf(ctx context.Context, c Cluster, run string) (all []Object, err error) {
	for _, kind := range kinds {
		if kind == "Secret" {
			continue
		}
		objects, err := c.List(ctx, kind, RunLabel+"="+run, "")
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			if meta, ok := o["metadata"].(Object); ok {
				delete(meta, "managedFields")
			}
			all = append(all, o)
		}
	}
	return all, nil
}
