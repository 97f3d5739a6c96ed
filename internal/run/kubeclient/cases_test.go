package kubeclient

// second is a kubeconfig that others are merged with.
const second = `current-context: w
contexts:
- {name: x, context: {cluster: absent, user: absent}}
- {name: w, context: {cluster: d, user: v, namespace: of-w}}
clusters:
- {name: c, cluster: {server: "https://absent.invalid"}}
- {name: d, cluster: {server: SERVER/prefix/, certificate-authority-data: $CA}}
users:
- {name: u, user: {token: of-the-second}}
- {name: v, user: {token: of-v}}
`

// program returns an exec entry.
func program(more string) string {
	return "{exec: {command: ./login, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, env: [{name: TEST_PLUGIN, value: ok}, {name: TEST_PLUGIN_OUT, value: '" + credentialText("v1", `"token":"of-the-program"`) + "'}]" + more + "}}"
}

// secureAs returns a cluster entry with more members.
func secureAs(more string) string {
	return "{server: SERVER, certificate-authority: ca.crt" + more + "}"
}

// headless is a kubeconfig without kind and version.
const headless = "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: SERVER, certificate-authority: ca.crt}}]\nusers: [{name: u, user: {token: t}}]\n"

var kubeconfigCases = map[string]kubeconfigCase{
	// Where the kubeconfig is, and how several are merged.
	"the first file wins":         {env: "config second", user: "{token: of-the-first}"},
	"the other order":             {env: "second config", user: "{token: of-the-first}"},
	"a missing file":              {env: "absent config config", user: "{token: t}"},
	"all files are missing":       {env: "absent absent2", fails: true},
	"a broken file of two":        {env: "config bad", fails: true},
	"current context of a second": {env: "empty second"},
	"a file that must exist":      {options: Options{Context: "x"}, text: headless},
	"an empty file":               {text: "\n", fails: true},
	"without kind and version":    {text: headless},
	"JSON with tabs":              {text: "{\n\t\"current-context\": \"x\",\n\t\"contexts\": [{\"name\": \"x\", \"context\": {\"cluster\": \"c\", \"user\": \"\"}}],\n\t\"clusters\": [{\"name\": \"c\", \"cluster\": {\"server\": \"SERVER\", \"certificate-authority-data\": \"$CA\"}}]\n}"},
	"unknown keys":                {text: headless + "colour: blue\npreferences: {colors: true}\n"},
	"another kind":                {text: "kind: Pod\napiVersion: v1\n" + headless, fails: true},
	"another version":             {text: "kind: Config\napiVersion: v2\n" + headless, fails: true},
	"two documents":               {text: headless + "---\nusers: [\n"},
	"a name twice":                {text: headless[:len(headless)-1-len("users: [{name: u, user: {token: t}}]")] + "users: [{name: u, user: {token: t}}, {name: u, user: {token: t}}]\n", fails: true},
	"not YAML":                    {text: "users: [", fails: true},
	"a text instead of a list":    {text: "clusters: x\n", fails: true},
	"a list instead of a text":    {user: "{token: [t]}", fails: true},
	"not base64":                  {cluster: "{server: SERVER, certificate-authority-data: '*'}", fails: true},
	"YAML 1.1":                    {cluster: "{server: SERVER, insecure-skip-tls-verify: yes}"},
	"anchors":                     {text: "a: &a {server: SERVER, certificate-authority: ca.crt}\ncurrent-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {<<: *a}}]\nusers: [{name: u, user: {}}]\n"},

	// Contexts and namespaces.
	"another context":            {options: Options{Context: "w"}, env: "config second"},
	"a context that is missing":  {options: Options{Context: "z"}, fails: true},
	"a current context missing":  {text: "current-context: z\n" + headless[len("current-context: x\n"):], fails: true},
	"no current context":         {text: headless[len("current-context: x\n"):], fails: true},
	"namespace of the context":   {context: ", namespace: here"},
	"another namespace":          {context: ", namespace: here", options: Options{Namespace: "there"}},
	"a cluster that is missing":  {text: "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n", fails: true},
	"no user":                    {text: "current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\nclusters: [{name: c, cluster: {server: SERVER, certificate-authority: ca.crt}}]\n"},
	"a user missing, plain HTTP": {plain: true, text: "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: SERVER}}]\n"},
	// client-go sends requests without credentials, whose refusal does not say that the user is missing.
	"a user that is missing": {text: "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: SERVER, certificate-authority: ca.crt}}]\n", differs: `there is no user "u"`},
	// Which of two values counts depends on who reads the file.
	"a key twice": {text: headless + "current-context: x\n", differs: `already defined at line 1`},

	// client-go reads YAML 1.1, in which y is true, and wants quotes around a token of digits. Only a text makes sense in these places.
	"a name that is a truth": {lenient: true, text: "current-context: y\ncontexts: [{name: y, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: SERVER, certificate-authority: ca.crt}}]\nusers: [{name: u, user: {}}]\n"},
	"a token of digits":      {lenient: true, user: "{token: 0123}"},

	// Servers.
	"a prefix":                   {cluster: "{server: SERVER/a/b/, certificate-authority: ca.crt}"},
	"a query":                    {cluster: "{server: 'SERVER/a?b=c', certificate-authority: ca.crt}"},
	"no scheme":                  {plain: true, cluster: "{server: HOST}", user: "{token: t}"},
	"no scheme but a path":       {plain: true, cluster: "{server: HOST/a}", fails: true},
	"no server":                  {cluster: "{server: ''}", fails: true},
	"an empty cluster":           {cluster: "{}", fails: true},
	"plain HTTP, no credentials": {plain: true, cluster: "{server: SERVER}", user: "{token: t, as: other}"},
	"plain HTTP, missing file":   {plain: true, cluster: "{server: SERVER, certificate-authority: absent}", fails: true},
	"a name for basic auth":      {plain: true, cluster: "{server: 'http://me:pw@HOST'}"},
	"CA as data":                 {cluster: "{server: SERVER, certificate-authority-data: $CA}"},
	"CA twice":                   {cluster: secureAs(", certificate-authority-data: $CA"), fails: true},
	"CA missing":                 {cluster: "{server: SERVER, certificate-authority: absent}", fails: true},
	"CA not PEM":                 {cluster: "{server: SERVER, certificate-authority: bad}", fails: true},
	"CA empty":                   {cluster: "{server: SERVER, certificate-authority: empty}", fails: true},
	"CA absolute":                {cluster: "{server: SERVER, certificate-authority: DIR/ca.crt}"},
	"no CA":                      {cluster: "{server: SERVER}", fails: true},
	"insecure":                   {cluster: "{server: SERVER, insecure-skip-tls-verify: true}", user: "{token: t}"},
	"insecure with a CA":         {cluster: secureAs(", insecure-skip-tls-verify: true"), fails: true},
	"another server name":        {cluster: secureAs(", tls-server-name: api.example")},
	"a wrong server name":        {cluster: secureAs(", tls-server-name: other.example"), fails: true},
	"no compression":             {cluster: secureAs(", disable-compression: true")},
	"a proxy of another kind":    {cluster: secureAs(", proxy-url: 'ftp://x'"), fails: true},
	"a proxy that is no URL":     {cluster: secureAs(", proxy-url: ':'"), fails: true},
	"a proxy that is away":       {cluster: secureAs(", proxy-url: 'http://127.0.0.1:1'"), fails: true},

	// Users.
	"a token":                        {user: "{token: t}"},
	"a token file":                   {user: "{tokenFile: token}"},
	"a token and a file":             {user: "{token: t, tokenFile: token}"},
	"a token, the file missing":      {user: "{token: t, tokenFile: absent}"},
	"a token file missing":           {user: "{tokenFile: absent}", fails: true},
	"a token file empty":             {user: "{tokenFile: empty}", fails: true},
	"a name and a password":          {user: "{username: me, password: pw}"},
	"a password only":                {user: "{password: pw}"},
	"a token and a name":             {user: "{token: t, username: me}", fails: true},
	"a token file and a name":        {user: "{tokenFile: token, username: me}", fails: true},
	"a certificate":                  {user: "{client-certificate: c.crt, client-key: c.key}"},
	"a certificate as data":          {user: "{client-certificate-data: $CERT, client-key-data: $KEY}"},
	"a certificate, key as data":     {user: "{client-certificate: c.crt, client-key-data: $KEY}"},
	"a certificate and a token":      {user: "{client-certificate: c.crt, client-key: c.key, token: t}"},
	"a certificate twice":            {user: "{client-certificate: c.crt, client-certificate-data: $CERT, client-key: c.key}", fails: true},
	"a key twice ":                   {user: "{client-certificate: c.crt, client-key-data: $KEY, client-key: c.key}", fails: true},
	"a certificate without key":      {user: "{client-certificate: c.crt}", fails: true},
	"a key without certificate":      {user: "{client-key: c.key}"},
	"a certificate missing":          {user: "{client-certificate: absent, client-key: c.key}", fails: true},
	"a key missing":                  {user: "{client-certificate: c.crt, client-key: absent}", fails: true},
	"a certificate broken":           {user: "{client-certificate: bad, client-key: c.key}", fails: true},
	"a certificate broken, as data":  {user: "{client-certificate-data: YWJj, client-key: c.key}", fails: true},
	"as another":                     {user: "{token: t, as: other, as-uid: '7', as-groups: [a, b], as-user-extra: {'example.com/Sco pe%': [one, two]}}"},
	"groups without another":         {user: "{as-groups: [a]}", fails: true},
	"a program":                      {user: program("")},
	"a program with standard input":  {user: "{exec: {command: ./login, apiVersion: client.authentication.k8s.io/v1beta1, env: [{name: TEST_PLUGIN, value: ok}, {name: TEST_PLUGIN_OUT, value: '" + credentialText("v1beta1", `"token":"b"`) + "'}]}}"},
	"a program that prints YAML":     {user: "{exec: {command: DIR/login, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, env: [{name: TEST_PLUGIN, value: yaml}]}}"},
	"a program and a token":          {user: "{token: t, " + program("")[1:]},
	"a program and a name":           {user: "{username: me, " + program("")[1:]},
	"a program and a certificate":    {user: "{client-certificate: c.crt, client-key: c.key, " + program("")[1:]},
	"a program that is missing":      {user: "{exec: {command: ./absent, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}}", fails: true},
	"a program that fails":           {user: "{exec: {command: ./login, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, env: [{name: TEST_PLUGIN, value: fail}]}}", fails: true},
	"a program of another version":   {user: "{exec: {command: ./login, apiVersion: client.authentication.k8s.io/v1alpha1, interactiveMode: Never}}", fails: true},
	"a program without version":      {user: "{exec: {command: ./login, interactiveMode: Never}}", fails: true},
	"a program without command":      {user: "{exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}}", fails: true},
	"a program without mode":         {user: "{exec: {command: ./login, apiVersion: client.authentication.k8s.io/v1}}", fails: true},
	"a program with a strange mode":  {user: "{exec: {command: ./login, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Perhaps}}", fails: true},
	"a program and nameless env":     {user: "{exec: {command: ./login, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, env: [{value: x}]}}", fails: true},
	"a program that wants a user":    {user: "{exec: {command: ./login, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Always}}", fails: true},
	"a program, broken, other token": {user: "{token: t, exec: {command: ./login, apiVersion: v9, interactiveMode: Never}}", fails: true},
	"a provider":                     {user: "{auth-provider: {name: gcp, config: {a: b}}}", fails: true},
	"a provider, plain HTTP":         {plain: true, cluster: "{server: SERVER}", user: "{auth-provider: {name: gcp}}"},
	"a provider and a program":       {user: "{auth-provider: {name: gcp}, " + program("")[1:], fails: true},
}
