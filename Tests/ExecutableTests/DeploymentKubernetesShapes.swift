/// A schema of the Kubernetes API for the objects in `deploy`.
indirect enum KubernetesShape: Sendable {
    case text, number, flag
    /// A port by its number or its name; an amount such as 64Mi.
    case word
    case oneOf(Set<String>)
    /// A mapping of names to texts.
    case texts
    case list(KubernetesShape)
    case members([String: KubernetesShape], needed: Set<String>)
    /// Not used in `deploy`, so it is not checked.
    case unseen

    /// The errors of an object.
    static func problems(of object: YAMLValue) -> [String] {
        let kind = "\(object["apiVersion"].text ?? "?") \(object["kind"].text ?? "?")"
        guard let shape = kinds[kind] else { return ["\(kind) is no kind of object"] }
        return shape.problems(of: object, at: kind)
    }

    private func problems(of value: YAMLValue, at place: String) -> [String] {
        switch self {
        case .unseen: return []
        case .texts:
            guard let members = value.object else { return ["\(place) is no object"] }
            return members.flatMap { Self.text.problems(of: $1, at: "\(place).\($0)") }
        case .list(let shape):
            guard let items = value.list else { return ["\(place) is no list"] }
            return items.enumerated().flatMap { shape.problems(of: $1, at: "\(place)[\($0)]") }
        case .members(let shapes, let needed):
            guard let members = value.object else { return ["\(place) is no object"] }
            let missing = needed.subtracting(members.keys).map { "\(place) has no \($0)" }
            return missing
                + members.flatMap { key, value in
                    shapes[key]?.problems(of: value, at: "\(place).\(key)") ?? ["\(place) may have no \(key)"]
                }
        case .text, .number, .flag, .word, .oneOf: return fits(value) ? [] : ["\(place) is not \(self)"]
        }
    }

    /// Whether a scalar has the expected type.
    private func fits(_ value: YAMLValue) -> Bool {
        switch self {
        case .text: value.text != nil
        case .number: value.number != nil
        case .flag: value.flag != nil
        case .word: value.word != nil
        case .oneOf(let words): value.text.map(words.contains) ?? false
        case .texts, .list, .members, .unseen: false
        }
    }

    /// An object: its members, the required ones, and those that `deploy` does not use.
    private static func object(
        _ shapes: [String: KubernetesShape],
        needs needed: String = "",
        others: String = ""
    ) -> KubernetesShape {
        let unseen = others.split(separator: " ").map { (String($0), KubernetesShape.unseen) }
        return .members(
            shapes.merging(unseen) { shape, _ in shape },
            needed: Set(needed.split(separator: " ").map { String($0) })
        )
    }
}

/// Whole objects.
extension KubernetesShape {
    private static let kinds: [String: KubernetesShape] = [
        "v1 ConfigMap": kind(["data": .texts], others: "binaryData immutable"),
        "v1 Service": kind(["spec": service]),
        "apps/v1 Deployment": kind(["spec": deployment]),
        "keda.sh/v1alpha1 ScaledObject": kind(["spec": scaledObject]),
        "keda.sh/v1alpha1 TriggerAuthentication": kind(["spec": triggerAuthentication]),
    ]

    private static func kind(_ shapes: [String: KubernetesShape], others: String = "") -> KubernetesShape {
        let all: [String: KubernetesShape] = ["apiVersion": .text, "kind": .text, "metadata": metadata]
        return object(all.merging(shapes) { $1 }, needs: "metadata", others: others)
    }

    private static let metadata = object(
        ["name": .text, "namespace": .text, "labels": .texts, "annotations": .texts],
        others: "generateName finalizers ownerReferences"
    )

    private static let service = object(
        [
            "selector": .texts, "type": .oneOf(["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"]),
            "ports": .list(
                object(
                    ["name": .text, "port": .number, "targetPort": .word, "protocol": networkProtocol],
                    needs: "port",
                    others: "appProtocol nodePort"
                )
            ),
        ],
        others: """
            allocateLoadBalancerNodePorts clusterIP clusterIPs externalIPs externalName externalTrafficPolicy \
            healthCheckNodePort internalTrafficPolicy ipFamilies ipFamilyPolicy loadBalancerClass loadBalancerIP \
            loadBalancerSourceRanges publishNotReadyAddresses sessionAffinity sessionAffinityConfig trafficDistribution
            """
    )

    private static let deployment = object(
        [
            "replicas": .number, "selector": object(["matchLabels": .texts], others: "matchExpressions"),
            "template": object(["metadata": metadata, "spec": pod], needs: "metadata spec"),
        ],
        needs: "selector template",
        others: "minReadySeconds paused progressDeadlineSeconds revisionHistoryLimit strategy"
    )

    private static let networkProtocol = KubernetesShape.oneOf(["TCP", "UDP", "SCTP"])
}

/// Pods and their parts.
extension KubernetesShape {
    private static let pod = object(
        [
            "containers": .list(container), "volumes": .list(volume), "terminationGracePeriodSeconds": .number,
            "automountServiceAccountToken": .flag,
            "securityContext": object(
                ["runAsNonRoot": .flag, "runAsUser": .number, "seccompProfile": seccompProfile],
                others: """
                    appArmorProfile fsGroup fsGroupChangePolicy runAsGroup seLinuxChangePolicy seLinuxOptions \
                    supplementalGroups supplementalGroupsPolicy sysctls windowsOptions
                    """
            ),
        ],
        needs: "containers",
        others: """
            activeDeadlineSeconds affinity dnsConfig dnsPolicy enableServiceLinks ephemeralContainers hostAliases \
            hostIPC hostNetwork hostPID hostUsers hostname imagePullSecrets initContainers nodeName nodeSelector os \
            overhead preemptionPolicy priority priorityClassName readinessGates resourceClaims resources restartPolicy \
            runtimeClassName schedulerName schedulingGates serviceAccount serviceAccountName setHostnameAsFQDN \
            shareProcessNamespace subdomain tolerations topologySpreadConstraints
            """
    )

    private static let container = object(
        [
            "name": .text, "image": .text, "imagePullPolicy": .oneOf(["Always", "IfNotPresent", "Never"]),
            "command": .list(.text), "args": .list(.text), "env": .list(variable), "volumeMounts": .list(mount),
            "ports": .list(port), "livenessProbe": probe, "readinessProbe": probe, "startupProbe": probe,
            "resources": object(["requests": amounts, "limits": amounts], others: "claims"),
            "securityContext": rights,
        ],
        needs: "name image",
        others: """
            envFrom lifecycle resizePolicy restartPolicy stdin stdinOnce terminationMessagePath \
            terminationMessagePolicy tty volumeDevices workingDir
            """
    )

    private static let variable = object(
        [
            "name": .text, "value": .text,
            "valueFrom": object(
                ["secretKeyRef": object(["name": .text, "key": .text, "optional": .flag], needs: "name key")],
                others: "configMapKeyRef fieldRef resourceFieldRef"
            ),
        ],
        needs: "name"
    )

    private static let probe = object(
        [
            "exec": object(["command": .list(.text)], needs: "command"),
            "httpGet": object(
                ["path": .text, "port": .word, "scheme": .oneOf(["HTTP", "HTTPS"])],
                needs: "port",
                others: "host httpHeaders"
            ),
            "initialDelaySeconds": .number, "periodSeconds": .number, "timeoutSeconds": .number,
            "failureThreshold": .number, "successThreshold": .number, "terminationGracePeriodSeconds": .number,
        ],
        others: "grpc tcpSocket"
    )

    private static let port = object(
        ["name": .text, "containerPort": .number, "protocol": networkProtocol],
        needs: "containerPort",
        others: "hostIP hostPort"
    )

    private static let mount = object(
        ["name": .text, "mountPath": .text, "readOnly": .flag, "subPath": .text],
        needs: "name mountPath",
        others: "mountPropagation recursiveReadOnly subPathExpr"
    )

    private static let volume = object(
        [
            "name": .text,
            "configMap": object(["name": .text, "optional": .flag], needs: "name", others: "defaultMode items"),
            "emptyDir": object(["medium": .text, "sizeLimit": .word]),
        ],
        needs: "name",
        others: "csi downwardAPI ephemeral hostPath image nfs persistentVolumeClaim projected secret"
    )

    private static let amounts = object(["cpu": .word, "memory": .word, "ephemeral-storage": .word])

    private static let rights = object(
        [
            "runAsNonRoot": .flag, "runAsUser": .number, "allowPrivilegeEscalation": .flag, "privileged": .flag,
            "readOnlyRootFilesystem": .flag, "seccompProfile": seccompProfile,
            "capabilities": object(["add": .list(.text), "drop": .list(.text)]),
        ],
        others: "appArmorProfile procMount runAsGroup seLinuxOptions windowsOptions"
    )

    private static let seccompProfile = object(
        ["type": .oneOf(["RuntimeDefault", "Unconfined", "Localhost"]), "localhostProfile": .text],
        needs: "type"
    )
}

/// The objects of KEDA.
extension KubernetesShape {
    private static let scaledObject = object(
        [
            "scaleTargetRef": object(
                ["name": .text, "kind": .text, "apiVersion": .text],
                needs: "name",
                others: "envSourceContainerName"
            ),
            "minReplicaCount": .number, "maxReplicaCount": .number, "idleReplicaCount": .number,
            "pollingInterval": .number, "cooldownPeriod": .number, "initialCooldownPeriod": .number,
            "triggers": .list(trigger),
        ],
        needs: "scaleTargetRef triggers",
        others: "advanced fallback"
    )

    /// The only trigger in use, a service that returns a number.
    private static let trigger = object(
        [
            "type": .oneOf(["metrics-api"]), "name": .text,
            "metricType": .oneOf(["AverageValue", "Value", "Utilization"]), "useCachedMetrics": .flag,
            "authenticationRef": object(["name": .text, "kind": .text], needs: "name"),
            // All of them are texts, even numbers.
            "metadata": object(
                [
                    "url": .text, "valueLocation": .text, "targetValue": .text, "activationTargetValue": .text,
                    "format": .text, "unsafeSsl": .text, "authMode": .oneOf(["apiKey", "basic", "bearer", "tls"]),
                ],
                needs: "url valueLocation targetValue",
                others: "method keyParamName aggregateFromKubeServiceEndpoints aggregationType"
            ),
        ],
        needs: "type metadata"
    )

    private static let triggerAuthentication = object(
        [
            "secretTargetRef": .list(
                object(["parameter": .text, "name": .text, "key": .text], needs: "parameter name key")
            )
        ],
        others: """
            awsSecretManager azureKeyVault boundServiceAccountToken configMapTargetRef env filePath gcpSecretManager \
            hashiCorpVault podIdentity
            """
    )
}
