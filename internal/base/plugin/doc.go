// Package plugin reads plug-in manifests: files named plugins.yaml that add implementations to the categories of the program without a change to it
// (spec: extensibility, sections 1 to 3). It finds the files, checks their form, decides conflicts and locks their content. It starts no program and
// knows nothing of what a category does with an entry.
package plugin
