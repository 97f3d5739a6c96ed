package kubelet

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	authentication "k8s.io/api/authentication/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// file is one file of a volume.
type file struct {
	path string
	data []byte
}

// fillVolumes writes the volumes of a pod and returns the folder of each by name.
func (k *Kubelet) fillVolumes(p *pod) (map[string]string, error) {
	dirs := map[string]string{}
	for _, v := range p.object.Spec.Volumes {
		dir := filepath.Join(p.dir, "volumes", v.Name)
		if v.HostPath != nil {
			dirs[v.Name] = v.HostPath.Path
			continue
		}
		files, mode, err := k.volumeFiles(p.context, p.object, &v)
		if err == nil {
			err = writeVolume(dir, files, mode, p.object.Spec.SecurityContext)
		}
		if err != nil {
			return nil, fmt.Errorf("MountVolume.SetUp failed for volume %q: %w", v.Name, err)
		}
		dirs[v.Name] = dir
	}
	return dirs, nil
}

// volumeFiles returns the files of a volume and their permissions. An emptyDir has none.
func (k *Kubelet) volumeFiles(ctx context.Context, o *v1.Pod, v *v1.Volume) ([]file, os.FileMode, error) {
	switch {
	case v.ConfigMap != nil:
		data, err := k.configMap(ctx, o.Namespace, v.ConfigMap.Name, v.ConfigMap.Optional)
		return items(data, v.ConfigMap.Items), mode(v.ConfigMap.DefaultMode), err
	case v.Secret != nil:
		data, err := k.secret(ctx, o.Namespace, v.Secret.SecretName, v.Secret.Optional)
		return items(data, v.Secret.Items), mode(v.Secret.DefaultMode), err
	case v.Projected != nil:
		files, err := k.projected(ctx, o, v.Projected.Sources)
		return files, mode(v.Projected.DefaultMode), err
	case v.EmptyDir != nil:
		return nil, 0, nil
	default:
		return nil, 0, fmt.Errorf("this type of volume is not supported")
	}
}

// projected returns the files of all sources of a projected volume.
func (k *Kubelet) projected(ctx context.Context, o *v1.Pod, sources []v1.VolumeProjection) ([]file, error) {
	var all []file
	for _, s := range sources {
		var files []file
		var data map[string][]byte
		var err error
		switch {
		case s.ServiceAccountToken != nil:
			files, err = k.token(ctx, o, s.ServiceAccountToken)
		case s.ConfigMap != nil:
			data, err = k.configMap(ctx, o.Namespace, s.ConfigMap.Name, s.ConfigMap.Optional)
			files = items(data, s.ConfigMap.Items)
		case s.Secret != nil:
			data, err = k.secret(ctx, o.Namespace, s.Secret.Name, s.Secret.Optional)
			files = items(data, s.Secret.Items)
		case s.DownwardAPI != nil:
			files = downward(o, s.DownwardAPI.Items)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, files...)
	}
	return all, nil
}

// token returns the token of a pod's service account as a file.
func (k *Kubelet) token(ctx context.Context, o *v1.Pod, t *v1.ServiceAccountTokenProjection) ([]file, error) {
	request := authentication.TokenRequestSpec{ExpirationSeconds: t.ExpirationSeconds}
	if t.Audience != "" {
		request.Audiences = []string{t.Audience}
	}
	accounts := k.client.CoreV1().ServiceAccounts(o.Namespace)
	made, err := accounts.CreateToken(ctx, o.Spec.ServiceAccountName, &authentication.TokenRequest{Spec: request}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	return []file{{t.Path, []byte(made.Status.Token)}}, nil
}

func downward(o *v1.Pod, items []v1.DownwardAPIVolumeFile) []file {
	var files []file
	for _, it := range items {
		if it.FieldRef != nil {
			files = append(files, file{it.Path, []byte(field(&pod{object: o}, it.FieldRef.FieldPath))})
		}
	}
	return files
}

// items returns data as files: all of it by its keys, or the chosen keys at their paths.
func items(data map[string][]byte, chosen []v1.KeyToPath) []file {
	var files []file
	for _, it := range chosen {
		if b, ok := data[it.Key]; ok {
			files = append(files, file{it.Path, b})
		}
	}
	if len(chosen) > 0 {
		return files
	}
	for key, b := range data {
		files = append(files, file{key, b})
	}
	return files
}

func mode(m *int32) os.FileMode {
	if m == nil {
		return 0o644
	}
	return os.FileMode(*m)
}

// writeVolume writes files, readable for the group that the pod's security context names.
func writeVolume(dir string, files []file, mode os.FileMode, s *v1.PodSecurityContext) error {
	group := -1
	if s != nil && s.FSGroup != nil {
		group = int(*s.FSGroup)
		mode |= (mode & 0o400) >> 3
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o777); err != nil { // past the umask: any user writes to an emptyDir
		return err
	}
	for _, f := range files {
		to := filepath.Join(dir, f.path)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, f.data, mode); err != nil {
			return err
		}
		if err := os.Chmod(to, mode); err != nil {
			return err
		}
		if group >= 0 {
			if err := os.Chown(to, -1, group); err != nil {
				return err
			}
		}
	}
	return nil
}
