{{- /* An egress rule: (list peers port). Without peers it has no `to`: anywhere, on that port. */}}
{{- define "backscroll.to" -}}
- ports: [{protocol: TCP, port: {{ index . 1 }}}]
  {{- with index . 0 }}
  to: {{ toYaml . | nindent 4 }}
  {{- end }}
{{ end -}}

{{- /* The pods of a part of this release, or of one of the two charts, as a list of one peer: (list $ "gateway"). */}}
{{- define "backscroll.peer" -}}
{{- $root := index . 0 -}}
{{- $labels := dict "app.kubernetes.io/instance" $root.Release.Name -}}
{{- $own := not (has (index . 1) (list "nats" "qdrant")) -}}
{{- $name := ternary ($root.Values.nameOverride | default $root.Chart.Name) (dig "nameOverride" (index . 1) (index $root.Values (index . 1)) | default (index . 1)) $own -}}
{{- $_ := set $labels "app.kubernetes.io/name" $name -}}
{{- if $own }}{{ $_ = set $labels "app.kubernetes.io/component" (index . 1) }}{{ end -}}
{{- list (dict "podSelector" (dict "matchLabels" $labels)) | toJson -}}
{{- end -}}
