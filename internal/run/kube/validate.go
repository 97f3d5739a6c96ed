package kube

import (
	"fmt"
	"slices"

	"aiperf/internal/base/lazyregexp"
)

// ValidateObjects checks that manifests are those of one run: what is wrong, and what is strange.
func ValidateObjects(objects []Object) (errs, warnings []string) {
	runs, seen := []string{}, map[string]bool{}
	for i, o := range objects {
		kind, name := text(o, "kind"), text(o, "metadata", "name")
		place := fmt.Sprintf("document %d (%s %s)", i+1, kind, name)
		run := text(o, "metadata", "labels", RunLabel)
		switch {
		case kind == "" || name == "":
			errs = append(errs, place+": an object needs a kind and a name")
			continue
		case run == "":
			warnings = append(warnings, place+": it has no label "+RunLabel+", so it is not deleted with the run")
			continue
		}
		if !slices.Contains(runs, run) {
			runs = append(runs, run)
		}
		seen[kind+text(o, "metadata", "labels", RoleLabel)] = true
		if kind == "Job" {
			errs = append(errs, validateJob(o, place)...)
		}
		if kind == "Secret" {
			warnings = append(warnings, place+": a Secret does not belong into a repository")
		}
	}
	if len(runs) > 1 {
		errs = append(errs, fmt.Sprintf("the objects belong to different runs: %v", runs))
	}
	for key, what := range map[string]string{"Job" + RoleController: "Job of the controller", "Job" + RoleWorker: "Job of the workers", "ConfigMap": "ConfigMap", "Service": "Service"} {
		if !seen[key] {
			errs = append(errs, "the "+what+" of the run is missing")
		}
	}
	slices.Sort(errs)
	return errs, warnings
}

// validateJob checks the pods of a Job.
func validateJob(o Object, place string) (errs []string) {
	containers := list(o, "spec", "template", "spec", "containers")
	if len(containers) != 1 {
		return []string{fmt.Sprintf("%s: it has %d containers, a run has one in each pod", place, len(containers))}
	}
	if text(containers[0], "image") == "" {
		errs = append(errs, place+": its container has no image")
	}
	if text(o, "spec", "template", "spec", "restartPolicy") != "Never" {
		errs = append(errs, place+": restartPolicy must be Never, because a run cannot be continued")
	}
	if text(o, "metadata", "labels", RoleLabel) == RoleWorker && text(o, "spec", "completionMode") != "Indexed" {
		errs = append(errs, place+": completionMode must be Indexed")
	}
	return errs
}

// ConfigOf returns the configuration in manifests; "" = there is none.
func ConfigOf(objects []Object) string {
	for _, o := range objects {
		if text(o, "kind") == "ConfigMap" {
			return text(o, "data", ConfigFile)
		}
	}
	return ""
}

var placeholder = lazyregexp.New(`\$\{(AIPERF_[A-Z_0-9]+)\}`)

// Placeholders returns an environment in which all variables that a configuration names have a value.
func Placeholders(config string) (environ []string) {
	for _, m := range placeholder.FindAllStringSubmatch(config, -1) {
		environ = append(environ, m[1]+"=placeholder")
	}
	return environ
}
