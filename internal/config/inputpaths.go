package config

// InputPaths returns the settings that name files with data of the run: those that other machines and pods may not have.
func (b *Benchmark) InputPaths() []*string {
	list := []*string{&b.Dataset().Path, &b.Dataset().SystemPromptFile}
	for i := range b.Phases {
		list = append(list, &b.Phases[i].RateSeries)
	}
	return list
}
