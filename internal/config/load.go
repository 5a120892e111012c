package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/posflag"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/thriftpack/thriftpack/internal/reload"
)

// Action is what the command line asks for.
type Action uint8

const (
	// Serve starts the server.
	Serve Action = iota
	// ShowHelp prints Help.
	ShowHelp
	// ShowVersion prints the version.
	ShowVersion
	// CheckConfig prints Report and exits.
	CheckConfig
)

// Names of the flags that are not settings. configFlag may also be given as THRIFTPACK_CONFIG.
const (
	configFlag  = "config"
	checkFlag   = "check-config"
	helpFlag    = "help"
	versionFlag = "version"
)

// Loaded is the outcome of Load.
type Loaded struct {
	// Config holds the effective settings; they are valid.
	Config Config
	// Action is what to do with them.
	Action Action
	// Origin says where a setting that is not the default came from, by its name: "flag", "environment" or "file".
	Origin map[string]string
}

// Load reads the settings: flags (args, without the program's name) win over the environment (environ, as os.Environ
// gives it), which wins over the YAML file of --config, which wins over the defaults. Its errors are one line and name the
// flag, variable or key. Help and version are answered without reading anything else.
func Load(args, environ []string) (Loaded, error) {
	flags := newFlagSet()
	if err := flags.Parse(args); err != nil {
		return Loaded{}, oneLine(err)
	}
	if flags.NArg() > 0 {
		return Loaded{}, fmt.Errorf("unexpected argument %q; settings are flags", flags.Arg(0))
	}
	loaded := Loaded{Config: Default(), Action: action(flags), Origin: map[string]string{}}
	if loaded.Action == ShowHelp || loaded.Action == ShowVersion {
		return loaded, nil
	}

	sources := []source{environmentSource(environ), flagSource(flags)}
	if path := configPath(flags, environ); path != "" {
		sources = append([]source{fileSource(path)}, sources...)
	}
	for _, s := range sources {
		if err := s.apply(&loaded); err != nil {
			return Loaded{}, oneLine(err)
		}
	}

	c := &loaded.Config
	if _, given := loaded.Origin["max-depth-value"]; !given {
		c.MaxDepthValue = min(c.MaxDepthValue, c.MaxDepth)
	}
	if _, given := loaded.Origin["schema-store"]; !given {
		c.SchemaStore = userStore(environ)
	}
	if err := c.Validate(); err != nil {
		return Loaded{}, named(err, &loaded, sources)
	}
	return loaded, nil
}

// named calls the setting of an error by the name that whoever set it knows it by.
func named(err error, loaded *Loaded, sources []source) error {
	var of *settingError
	if !errors.As(err, &of) {
		return err
	}
	for _, s := range sources {
		if s.origin == loaded.Origin[of.name] {
			return fmt.Errorf("%s: %w", s.place(of.name), of.err)
		}
	}
	return err
}

// newFlagSet declares every flag as text: the value is read where its source is known, so that all three sources give the
// same errors.
func newFlagSet() *pflag.FlagSet {
	flags := pflag.NewFlagSet("server", pflag.ContinueOnError)
	flags.Usage = func() {}
	for _, s := range Settings() {
		flags.String(s.Name, "", s.Meaning)
		if s.unit == switchUnit {
			flags.Lookup(s.Name).NoOptDefVal = "true"
		}
	}
	flags.String(configFlag, "", "")
	flags.Bool(checkFlag, false, "")
	flags.BoolP(helpFlag, "h", false, "")
	flags.Bool(versionFlag, false, "")
	return flags
}

func action(flags *pflag.FlagSet) Action {
	given := func(name string) bool {
		yes, err := flags.GetBool(name)
		return err == nil && yes
	}
	switch {
	case given(helpFlag):
		return ShowHelp
	case given(versionFlag):
		return ShowVersion
	case given(checkFlag):
		return CheckConfig
	}
	return Serve
}

func configPath(flags *pflag.FlagSet, environ []string) string {
	if f := flags.Lookup(configFlag); f.Changed {
		return f.Value.String()
	}
	path := ""
	for _, entry := range environ {
		if value, ok := strings.CutPrefix(entry, EnvPrefix+"CONFIG="); ok {
			path = value
		}
	}
	return path
}

// source is one place that settings come from.
type source struct {
	// origin is its word in Loaded.Origin.
	origin   string
	provider koanf.Provider
	parser   koanf.Parser
	// place names a key for an error, as whoever wrote it knows it.
	place func(key string) string
}

func fileSource(path string) source {
	return source{
		origin: "file", provider: settingsFile(path), parser: oneDocument{},
		place: func(key string) string {
			if key == "" {
				return "--config " + path
			}
			return path + ": " + key
		},
	}
}

// maxFileBytes bounds the file of settings, in bytes.
const maxFileBytes = 1 << 20

// settingsFile is the path of a file of settings, as a koanf.Provider.
type settingsFile string

// ReadBytes returns the file's contents.
func (f settingsFile) ReadBytes() ([]byte, error) { return reload.ReadFile(string(f), maxFileBytes) }

// errSecondDocument is of a file that goes on after its end: what stands there would be ignored.
var errSecondDocument = errors.New("yaml: more than one document; want one without ---")

// oneDocument is koanf.Parser for YAML of one document.
type oneDocument struct{}

// Unmarshal reads the document. Settings are scalars by name; what else there is, it keeps, and apply refuses it by name.
func (oneDocument) Unmarshal(contents []byte) (map[string]any, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(contents))
	var settings map[string]any
	if err := decoder.Decode(&settings); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var more yaml.Node
	switch err := decoder.Decode(&more); {
	case err == nil:
		return nil, errSecondDocument
	case !errors.Is(err, io.EOF):
		return nil, err
	}
	return settings, nil
}

// Marshal is the other way, which settings do not go.
func (oneDocument) Marshal(map[string]any) ([]byte, error) { return nil, errors.ErrUnsupported }

// Read is the other way to be a koanf.Provider, for those that parse by themselves.
func (settingsFile) Read() (map[string]any, error) {
	return nil, errors.ErrUnsupported
}

func environmentSource(environ []string) source {
	byVariable := map[string]string{}
	for _, s := range Settings() {
		byVariable[s.Env()] = s.Name
	}
	return source{
		origin: "environment",
		provider: env.Provider("", env.Opt{
			Prefix:      EnvPrefix,
			EnvironFunc: func() []string { return environ },
			TransformFunc: func(variable, value string) (string, any) {
				if variable == EnvPrefix+"CONFIG" || serviceLink.MatchString(variable+"="+value) {
					return "", nil
				}
				if name, ok := byVariable[variable]; ok {
					return name, value
				}
				return variable, value
			},
		}),
		place: func(key string) string {
			for variable, name := range byVariable {
				if name == key {
					return variable
				}
			}
			return key
		},
	}
}

// serviceLink matches the variables that Kubernetes sets in every pod of a namespace for a Service whose name starts with
// "thriftpack": they have our prefix and are none of ours. The value tells …_PORT from a setting that somebody made up.
var serviceLink = regexp.MustCompile(`^` + EnvPrefix + `([A-Z0-9_]+_)?(` +
	`SERVICE_HOST=|SERVICE_PORT(_[A-Z0-9_]+)?=|PORT(_[0-9]+_(TCP|UDP|SCTP))?=(tcp|udp|sctp)://|` +
	`PORT_[0-9]+_(TCP|UDP|SCTP)_(PROTO|PORT|ADDR)=)`)

func flagSource(flags *pflag.FlagSet) source {
	notSettings := map[string]bool{configFlag: true, checkFlag: true, helpFlag: true, versionFlag: true}
	return source{
		origin: "flag",
		provider: posflag.ProviderWithFlag(flags, ".", nil, func(f *pflag.Flag) (string, any) {
			if notSettings[f.Name] {
				return "", nil
			}
			return f.Name, f.Value.String()
		}),
		place: func(key string) string { return "--" + key },
	}
}

// apply reads the source into loaded.
func (s source) apply(loaded *Loaded) error {
	k := koanf.New(".")
	if err := k.Load(s.provider, s.parser); err != nil {
		return fmt.Errorf("%s: %w", s.place(""), err)
	}
	settings := map[string]Setting{}
	for _, setting := range Settings() {
		settings[setting.Name] = setting
	}
	for _, key := range k.Keys() {
		setting, ok := settings[key]
		if !ok {
			return fmt.Errorf("%s: no such setting; --help lists them", s.place(key))
		}
		text, err := scalarText(k.Get(key))
		if err == nil {
			err = parseValue(setting.unit, setting.field(&loaded.Config), text)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.place(key), err)
		}
		loaded.Origin[key] = s.origin
	}
	return nil
}

// scalarText turns a value of the file back into text, so that one parser reads all sources.
func scalarText(value any) (string, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case bool, int, int64, uint64, float64:
		return fmt.Sprint(v), nil
	case nil:
		return "", errNoValue
	}
	return "", errManyValues
}

// oneLine keeps an error of a parser on one line.
func oneLine(err error) error {
	if !strings.Contains(err.Error(), "\n") {
		return err
	}
	return &flatError{err}
}

// flatError is an error whose text has its line breaks replaced.
type flatError struct{ err error }

func (e *flatError) Error() string { return strings.Join(strings.Fields(e.err.Error()), " ") }

func (e *flatError) Unwrap() error { return e.err }
