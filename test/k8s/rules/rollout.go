package rules

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/test/k8s/manifests"
)

// graceMargin is what the kubelet gets to notice an end.
const graceMargin = 5 * time.Second

// smallestGap is how far apart the replacements of two pods are at the least. With three pods an update then takes longer than the 30 s
// for which grpc-go does not look up a name again (resolver/dns MinResolutionInterval).
const (
	smallestGap      = 12
	resolutionPeriod = 30
)

func checkGrace(b *manifests.Bundle, r *report) {
	eachServer(b, func(s manifests.ServerContainer, c config.Config) {
		grace := s.Deployment.Spec.Template.Spec.TerminationGracePeriodSeconds
		if grace == nil {
			r.add("%s: no terminationGracePeriodSeconds", s.Deployment.Name)
			return
		}
		sleep := time.Duration(0)
		if l := s.Container.Lifecycle; l != nil && l.PreStop != nil && l.PreStop.Sleep != nil {
			sleep = time.Duration(l.PreStop.Sleep.Seconds) * time.Second
		} else if !s.Sidecar {
			r.add("%s has no preStop sleep: endpoints are withdrawn while it already drains", where(s))
		}
		have, need := time.Duration(*grace)*time.Second, sleep+c.DrainDelay+c.DrainTimeout+graceMargin
		if have < need {
			r.add("%s has %s to end; preStop %s, drain-delay %s, drain-timeout %s and %s in hand are %s",
				where(s), have, sleep, c.DrainDelay, c.DrainTimeout, graceMargin, need)
		}
	})
}

// served returns the Deployments whose pods are reached by Services.
func served(b *manifests.Bundle) []*appsv1.Deployment {
	var found []*appsv1.Deployment
	for _, s := range b.Servers() {
		if !s.Sidecar {
			found = append(found, s.Deployment)
		}
	}
	return found
}

func checkRollout(b *manifests.Bundle, r *report) {
	for _, d := range served(b) {
		rolling := d.Spec.Strategy.RollingUpdate
		if d.Spec.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType || rolling == nil {
			r.add("%s is not updated by rolling", d.Name)
			continue
		}
		if rolling.MaxUnavailable == nil || *rolling.MaxUnavailable != intstr.FromInt32(0) {
			r.add("%s: maxUnavailable is not 0", d.Name)
		}
		if rolling.MaxSurge == nil || *rolling.MaxSurge != intstr.FromInt32(1) {
			r.add("%s: maxSurge is not 1: more pods at a time make the update faster than clients notice", d.Name)
		}
		if d.Spec.MinReadySeconds < smallestGap {
			r.add("%s: minReadySeconds is %d, want %d", d.Name, d.Spec.MinReadySeconds, smallestGap)
		}
		for _, a := range autoscalers(b, d) {
			if least := *a.Spec.MinReplicas; least > 1 && least*d.Spec.MinReadySeconds < resolutionPeriod {
				r.add("%s: %d pods %d s apart are replaced in less than %d s", d.Name, least, d.Spec.MinReadySeconds, resolutionPeriod)
			}
		}
		if p := d.Spec.ProgressDeadlineSeconds; p == nil || *p <= d.Spec.MinReadySeconds {
			r.add("%s: progressDeadlineSeconds is not set, or below minReadySeconds", d.Name)
		}
	}
}

// autoscalers returns those of a Deployment that say how few pods there may be.
func autoscalers(b *manifests.Bundle, d *appsv1.Deployment) []*autoscalingv2.HorizontalPodAutoscaler {
	var found []*autoscalingv2.HorizontalPodAutoscaler
	for _, a := range b.Autoscalers {
		if t := a.Spec.ScaleTargetRef; t.APIVersion == "apps/v1" && t.Kind == "Deployment" && t.Name == d.Name && a.Spec.MinReplicas != nil {
			found = append(found, a)
		}
	}
	return found
}

func checkAutoscaling(b *manifests.Bundle, r *report) {
	for _, d := range served(b) {
		scalers := autoscalers(b, d)
		if len(scalers) != 1 || len(scalers) != len(b.Autoscalers) {
			r.add("%s has %d autoscalers with minReplicas, want one, and no other", d.Name, len(scalers))
			continue
		}
		if d.Spec.Replicas != nil {
			r.add("%s has replicas: %d", d.Name, *d.Spec.Replicas)
		}
		a := scalers[0]
		if *a.Spec.MinReplicas > a.Spec.MaxReplicas {
			r.add("%s: minReplicas %d exceeds maxReplicas %d", a.Name, *a.Spec.MinReplicas, a.Spec.MaxReplicas)
		}
		if a.Spec.Behavior == nil || a.Spec.Behavior.ScaleDown == nil || a.Spec.Behavior.ScaleUp == nil {
			r.add("%s has no behavior", a.Name)
		}
		byCPU := false
		for _, m := range a.Spec.Metrics {
			switch {
			case m.Pods != nil && m.Pods.Metric.Name == "thriftpack_stream_budget_held_bytes":
				checkStreamTarget(b, a.Name, m.Pods, r)
			case m.ContainerResource == nil:
			case !slices.ContainsFunc(containers(&d.Spec.Template.Spec), func(c *corev1.Container) bool { return c.Name == m.ContainerResource.Container }):
				r.add("%s counts container %s, which does not exist", a.Name, m.ContainerResource.Container)
			case m.ContainerResource.Name == corev1.ResourceCPU:
				byCPU = true
			}
		}
		if !byCPU {
			r.add("%s does not scale on the container's CPU", a.Name)
		}
	}
}

// checkStreamTarget wants that pods are added before the streams of each hold all that they may.
func checkStreamTarget(b *manifests.Bundle, name string, m *autoscalingv2.PodsMetricSource, r *report) {
	eachServer(b, func(s manifests.ServerContainer, c config.Config) {
		if t := m.Target.AverageValue; !s.Sidecar && (t == nil || t.Value()*4 > c.StreamBudget*3) {
			r.add("%s: streams hold %s on average before there are more pods; stream-budget is %s", name, t, size(c.StreamBudget))
		}
	})
}

func checkDisruptions(b *manifests.Bundle, r *report) {
	for _, d := range served(b) {
		found := 0
		for _, p := range b.Budgets {
			if !matches(p.Spec.Selector, d.Spec.Template.Labels) {
				continue
			}
			found++
			if p.Spec.MaxUnavailable == nil || *p.Spec.MaxUnavailable != intstr.FromInt32(1) || p.Spec.MinAvailable != nil {
				r.add("%s: maxUnavailable is not 1", p.Name)
			}
			if u := p.Spec.UnhealthyPodEvictionPolicy; u == nil || *u != policyv1.AlwaysAllow {
				r.add("%s: a pod that is not ready blocks drains", p.Name)
			}
		}
		if found != 1 {
			r.add("%s has %d budgets of disruption, want one", d.Name, found)
		}
	}
}

func checkSpread(b *manifests.Bundle, r *report) {
	for _, d := range served(b) {
		missing := map[string]bool{"topology.kubernetes.io/zone": true, "kubernetes.io/hostname": true}
		for _, c := range d.Spec.Template.Spec.TopologySpreadConstraints {
			delete(missing, c.TopologyKey)
			if c.WhenUnsatisfiable != corev1.ScheduleAnyway {
				r.add("%s: a pod would rather not start than be beside another (%s)", d.Name, c.TopologyKey)
			}
			if !slices.Contains(c.MatchLabelKeys, "pod-template-hash") {
				r.add("%s: the pods of the last revision count (%s)", d.Name, c.TopologyKey)
			}
			if !matches(c.LabelSelector, d.Spec.Template.Labels) {
				r.add("%s: the pods spread over %s are others", d.Name, c.TopologyKey)
			}
		}
		for key := range missing {
			r.add("%s is not spread over %s", d.Name, key)
		}
	}
}
