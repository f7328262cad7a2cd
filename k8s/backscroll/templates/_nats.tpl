{{- /*
The users of NATS, for `nats.config.merge.authorization` of the bundled chart, which evaluates what is under
`$tplYaml`. Passwords are variables of its container, from the Secret `bus.existingSecret`.
*/}}
{{- define "backscroll.natsUsers" -}}
users:
  {{- range $user := list "gateway" "chunker" "embedder" "retriever" "assembler" "operator" }}
  - user: {{ $user }}
    password: << $NATS_{{ upper $user }} >>
  {{- end }}
{{- end -}}
