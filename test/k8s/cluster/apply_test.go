package cluster

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/thriftpack/thriftpack/test/k8s/manifests"
)

// namespaces numbers the namespaces of tests: without controllers none is ever gone.
var namespaces atomic.Int64

// bundle renders a kustomization and moves it into a namespace of its own.
func bundle(t *testing.T, tree *manifests.Tree, folder string) *manifests.Bundle {
	t.Helper()
	b, err := tree.Bundle(folder)
	if err != nil {
		t.Fatal(err)
	}
	move(b)
	return b
}

func move(b *manifests.Bundle) {
	namespace := fmt.Sprintf("test-%d", namespaces.Add(1))
	for _, o := range b.All {
		if o.GetKind() == "Namespace" {
			o.SetName(namespace)
		} else {
			o.SetNamespace(namespace)
		}
	}
}

func load(t *testing.T) *manifests.Tree {
	t.Helper()
	tree, err := manifests.Load()
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// applyAll applies a bundle and returns what the server made of it.
func applyAll(t *testing.T, c *cluster, b *manifests.Bundle) []*unstructured.Unstructured {
	t.Helper()
	applied := make([]*unstructured.Unstructured, 0, len(b.All))
	for _, o := range b.All {
		result, err := c.apply(t.Context(), o)
		if err != nil {
			t.Fatalf("%s %s: %v", o.GetKind(), o.GetName(), err)
		}
		applied = append(applied, result)
	}
	return applied
}

// podOf makes a Pod of a Deployment's template, as its ReplicaSet would: Pod Security refuses pods, and only warns of Deployments.
func podOf(t *testing.T, deployment *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	template, found, err := unstructured.NestedMap(deployment.Object, "spec", "template")
	if err != nil || !found {
		t.Fatalf("%s has no template: %v", deployment.GetName(), err)
	}
	pod := &unstructured.Unstructured{Object: template}
	pod.SetAPIVersion("v1")
	pod.SetKind("Pod")
	pod.SetNamespace(deployment.GetNamespace())
	pod.SetName(deployment.GetName())
	return pod
}

func TestServerVersion(t *testing.T) {
	version, err := running(t).discovery.ServerVersion()
	if err != nil || version.Major != "1" || version.Minor == "" {
		t.Fatalf("the server says that it is %v, %v", version, err)
	}
	t.Logf("Kubernetes %s", version.GitVersion)
}

// TestEverythingThatIsShippedIsTaken applies each overlay, each example, and each component on the base.
func TestEverythingThatIsShippedIsTaken(t *testing.T) {
	c := running(t)
	bundles, err := load(t).Bundles()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range bundles {
		t.Run(strings.TrimPrefix(b.Name, "/k8s/"), func(t *testing.T) {
			move(b)
			first := applyAll(t, c, b)
			for i, again := range applyAll(t, c, b) {
				if before := first[i].GetResourceVersion(); again.GetResourceVersion() != before {
					t.Errorf("%s %s: the second apply changed it", again.GetKind(), again.GetName())
				}
			}
			pods := 0
			for _, o := range b.All {
				if o.GetKind() != "Deployment" {
					continue
				}
				pods++
				if err := c.create(t.Context(), podOf(t, o)); err != nil {
					t.Errorf("a pod of %s: %v", o.GetName(), err)
				}
			}
			if pods == 0 {
				t.Error("it has no Deployment")
			}
		})
	}
}

// TestApplyKeepsWhatTheAutoscalerChose scales the Deployment and applies it again.
func TestApplyKeepsWhatTheAutoscalerChose(t *testing.T) {
	c := running(t)
	b := bundle(t, load(t), "/k8s/overlays/production")
	applyAll(t, c, b)
	namespace := b.All[0].GetName()
	deployments := c.dynamic.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}).Namespace(namespace)
	scale := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "autoscaling/v1", "kind": "Scale",
		"metadata": map[string]any{"name": "thriftpack", "namespace": namespace},
		"spec":     map[string]any{"replicas": int64(7)},
	}}
	if _, err := deployments.Update(t.Context(), scale, metav1.UpdateOptions{}, "scale"); err != nil {
		t.Fatal(err)
	}
	applyAll(t, c, b)
	after, err := deployments.Get(t.Context(), "thriftpack", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := unstructured.NestedInt64(after.Object, "spec", "replicas"); got != 7 || err != nil {
		t.Errorf("after an apply there are %d replicas, %v; want the 7 of the autoscaler", got, err)
	}
}
