package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// The members of SPDX 2.3 that are used here.
type document struct {
	Version       string         `json:"spdxVersion"`
	License       string         `json:"dataLicense"`
	ID            string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	Creation      creation       `json:"creationInfo"`
	Packages      []spdxPackage  `json:"packages"`
	Relationships []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type spdxPackage struct {
	ID               string      `json:"SPDXID"`
	Name             string      `json:"name"`
	Version          string      `json:"versionInfo,omitempty"`
	Location         string      `json:"downloadLocation"`
	FilesAnalyzed    bool        `json:"filesAnalyzed"`
	LicenseConcluded string      `json:"licenseConcluded"`
	LicenseDeclared  string      `json:"licenseDeclared"`
	Copyright        string      `json:"copyrightText"`
	Purpose          string      `json:"primaryPackagePurpose,omitempty"`
	Comment          string      `json:"comment,omitempty"`
	References       []reference `json:"externalRefs,omitempty"`
}

type reference struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	From string `json:"spdxElementId"`
	Kind string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

const noAssertion = "NOASSERTION"

// contents lists what the image of that digest is made of: the modules that the linker put into the server, by the server's own
// account, and Go's library. The text depends on them alone.
func contents(o options, s *server, digest string) ([]byte, error) {
	if s.info == nil || len(s.info.Deps) == 0 {
		return nil, errNoModule
	}
	const root = "SPDXRef-image"
	image := newPackage(root, "thriftpack", o.version, "pkg:oci/thriftpack@"+strings.ReplaceAll(digest, ":", "%3A"))
	image.Purpose, image.LicenseDeclared = "CONTAINER", "Apache-2.0"
	main := newPackage("SPDXRef-server", s.info.Main.Path, o.version, "pkg:golang/"+s.info.Main.Path+"@"+o.version+"#cmd/server")
	main.Purpose, main.LicenseDeclared = "APPLICATION", "Apache-2.0"
	library := newPackage("SPDXRef-go", "std", strings.TrimPrefix(s.info.GoVersion, "go"), "pkg:golang/std@"+strings.TrimPrefix(s.info.GoVersion, "go"))
	library.LicenseDeclared = "BSD-3-Clause"

	name := sha256.Sum256([]byte(digest))
	d := document{
		Version: "SPDX-2.3", License: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: "thriftpack " + o.version,
		Namespace: "https://github.com/thriftpack/thriftpack/spdx/" + hex.EncodeToString(name[:]),
		Creation:  creation{Created: o.created.Format(time.RFC3339), Creators: []string{"Tool: thriftpack-image", "Organization: thriftpack"}},
		Packages:  []spdxPackage{image, main, library},
		Relationships: []relationship{
			{"SPDXRef-DOCUMENT", "DESCRIBES", root}, {root, "CONTAINS", main.ID}, {main.ID, "DEPENDS_ON", library.ID},
		},
	}
	for i, m := range s.info.Deps {
		p := module("SPDXRef-module-"+strconv.Itoa(i+1), m)
		d.Packages = append(d.Packages, p)
		d.Relationships = append(d.Relationships, relationship{main.ID, "DEPENDS_ON", p.ID})
	}
	text, err := json.MarshalIndent(d, "", "  ")
	return append(text, '\n'), err
}

// module describes a module as the linker noted it, with what replaced it.
func module(id string, m *debug.Module) spdxPackage {
	if m.Replace != nil {
		m = m.Replace
	}
	p := newPackage(id, m.Path, m.Version, "pkg:golang/"+m.Path+"@"+m.Version)
	if m.Sum != "" {
		p.Comment = "go.sum: " + m.Sum
	}
	return p
}

func newPackage(id, name, version, locator string) spdxPackage {
	return spdxPackage{
		ID: id, Name: name, Version: version, Location: noAssertion, LicenseConcluded: noAssertion, LicenseDeclared: noAssertion, Copyright: noAssertion,
		References: []reference{{"PACKAGE-MANAGER", "purl", locator}},
	}
}
