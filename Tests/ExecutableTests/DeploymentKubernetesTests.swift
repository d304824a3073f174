import ErrandDashboard
import Foundation
import TestSupport
import Testing

/// The objects of `deploy/kubernetes`, checked without a cluster.
@Suite struct DeploymentKubernetesTests {
    private static let manifest = "deploy/kubernetes/errand.yaml"
    private let objects: [YAMLValue]

    init() throws {
        objects =
            try DeploymentFiles.documents(Self.manifest) + DeploymentFiles.documents("deploy/kubernetes/keda.yaml")
    }

    private func all(_ kind: String) -> [YAMLValue] { objects.filter { $0["kind"].text == kind } }

    private func names(of kind: String) -> [String] { all(kind).compactMap { $0["metadata"]["name"].text } }

    private func containers(of deployment: YAMLValue) -> [YAMLValue] {
        deployment["spec"]["template"]["spec"]["containers"].items
    }

    private var containers: [YAMLValue] { all("Deployment").flatMap { containers(of: $0) } }

    /// The deployments whose pods have these labels.
    private func deployments(with labels: [String: String]) -> [YAMLValue] {
        all("Deployment").filter { deployment in
            let own = deployment["spec"]["template"]["metadata"]["labels"].texts
            return labels.allSatisfy { own[$0.key] == $0.value }
        }
    }

    /// The ports of a container, by name and by number.
    private func ports(of container: YAMLValue) -> Set<String> {
        Set(container["ports"].items.flatMap { [$0["name"].word, $0["containerPort"].word] }.compactMap { $0 })
    }

    @Test func hasOnlyWhatKubernetesKnows() {
        for object in objects { #expect(KubernetesShape.problems(of: object) == []) }
    }

    @Test(arguments: [
        ("livenessProbe:", "livenesProbe:"), ("periodSeconds: 30", "periodSecond: 30"),
        ("periodSeconds: 30", "periodSeconds: 30s"), ("containerPort: 8080", "port: 8080"),
        ("matchLabels:", "labels:"), ("kind: Deployment", "kind: Deploymet"), ("drop: [ALL]", "drop: ALL"),
        ("imagePullPolicy: IfNotPresent", "imagePullPolicy: Sometimes"), ("mountPath: /tmp", "path: /tmp"),
    ])
    func findsAMistake(_ right: String, _ wrong: String) throws {
        let text = try DeploymentFiles.text(Self.manifest)
        #expect(text.contains(right))
        let objects = try DeploymentFiles.documents(of: text.replacing(right, with: wrong))
        #expect(objects.contains { !KubernetesShape.problems(of: $0).isEmpty })
    }

    @Test func selectorsMeanTheirOwnPods() {
        for deployment in all("Deployment") {
            let labels = deployment["spec"]["selector"]["matchLabels"].texts
            let meant = deployments(with: labels).compactMap { $0["metadata"]["name"].text }
            #expect(!labels.isEmpty && meant == [deployment["metadata"]["name"].text ?? "?"])
        }
    }

    @Test func servicesLeadToPortsOfTheirPods() {
        for service in all("Service") {
            let labels = service["spec"]["selector"].texts
            let pods = deployments(with: labels)
            #expect(!labels.isEmpty && pods.count == 1)
            let open = Set(pods.flatMap { containers(of: $0) }.flatMap { ports(of: $0) })
            for port in service["spec"]["ports"].items {
                let target = port["targetPort"].word ?? port["port"].word ?? "none"
                #expect(open.contains(target), "\(target) is none of \(open)")
            }
        }
    }

    @Test func theDashboardListensWhereItIsAsked() async throws {
        let dashboards = containers.filter { $0["command"].words == [Executable.dashboard.rawValue] }
        #expect(dashboards.count == 1)
        let help = try await Executable.dashboard.run(["--help"]).text
        let usual = try #require(help.firstMatch(of: /--port <port>[^)]*\(default: ([0-9]+)\)/)).1
        for dashboard in dashboards {
            #expect(!dashboard["args"].words.contains("--port") && ports(of: dashboard).contains(String(usual)))
        }
    }

    @Test func probesAskForWhatAnswers() async throws {
        let scene = try await DashboardScene()
        for container in containers {
            for name in ["livenessProbe", "readinessProbe"] {
                let probe = container[name]
                let place = "\(name) of \(container["name"].text ?? "?")"
                #expect(["exec", "httpGet", "grpc", "tcpSocket"].count { probe[$0].isThere } == 1, "\(place)")
                if probe["exec"].isThere {
                    let command = DeploymentCommand(probe["exec"]["command"].words)
                    #expect(command?.executable == .console, "\(place) runs \(probe["exec"]["command"].words)")
                } else {
                    let (path, port) = (probe["httpGet"]["path"].text ?? "/", probe["httpGet"]["port"].word ?? "none")
                    #expect(ports(of: container).contains(port), "\(place) asks at \(port)")
                    #expect(try await scene.ask(path, as: .none).status == 200, "\(place) asks for \(path)")
                }
            }
        }
    }

    @Test func everyVolumeThatIsMountedIsThere() {
        for deployment in all("Deployment") {
            let volumes = deployment["spec"]["template"]["spec"]["volumes"].items
            let mounts = containers(of: deployment).flatMap { $0["volumeMounts"].items }
            #expect(Set(volumes.compactMap { $0["name"].text }) == Set(mounts.compactMap { $0["name"].text }))
            for volume in volumes where volume["configMap"].isThere {
                #expect(names(of: "ConfigMap").contains(volume["configMap"]["name"].text ?? "?"))
            }
        }
    }

    @Test func workersFindTheirCatalogue() async throws {
        let workers = containers.filter { $0["args"].words.contains("--catalogue") }
        let mounted = workers.flatMap { $0["volumeMounts"].items }.filter { $0["name"].text == "catalogue" }
        let folder = try #require(mounted.first)["mountPath"].text ?? "?"
        let files = all("ConfigMap").flatMap { $0["data"].texts.map { (path: "\(folder)/\($0.key)", text: $0.value) } }
        for worker in workers {
            let named = worker["args"].words.drop { $0 != "--catalogue" }.dropFirst().first
            #expect(files.contains { $0.path == named }, "\(named ?? "nothing")")
        }
        let server = try RedisServer()
        for file in files {
            let copy = server.directory + "/catalogue.yaml"
            try file.text.write(toFile: copy, atomically: true, encoding: .utf8)
            let push = ["push", "checksum", #"{"path":"a"}"#, "--catalogue", copy]
            let output = try await Executable.producer.run(push, on: server)
            #expect(output.status == 0, "\(output.error)")
        }
    }

    @Test func everySecretIsOneThatTheCommandMakes() throws {
        let command = try #require(
            try DeploymentFiles.text(Self.manifest).firstMatch(of: /kubectl create secret generic ([a-z-]+) [^\n]*/)
        )
        let keys = Set(command.0.matches(of: /--from-literal=([a-z-]+)=/).map { String($0.output.1) })
        let variables = containers.flatMap { $0["env"].items }.map { $0["valueFrom"]["secretKeyRef"] }
        let parameters = all("TriggerAuthentication").flatMap { $0["spec"]["secretTargetRef"].items }
        let references = variables.filter(\.isThere) + parameters
        #expect(references.allSatisfy { $0["name"].text == String(command.1) })
        #expect(Set(references.compactMap { $0["key"].text }) == keys)
    }

    @Test func kedaScalesWhatIsThereByWhatTheDashboardSays() async throws {
        let scene = try await DashboardScene()
        try await scene.push(#"{"operation":"work"}"#)
        let services = names(of: "Service")
        let open = all("Service").flatMap { $0["spec"]["ports"].items }.compactMap { $0["port"].number }
        for scaled in all("ScaledObject").map({ $0["spec"] }) {
            #expect(names(of: "Deployment").contains(scaled["scaleTargetRef"]["name"].text ?? "?"))
            for trigger in scaled["triggers"].items {
                let login = trigger["authenticationRef"]["name"].text ?? "?"
                #expect(names(of: "TriggerAuthentication").contains(login))
                let asked = try #require(URLComponents(string: trigger["metadata"]["url"].text ?? ""))
                #expect(services.contains(String(asked.host?.split(separator: ".").first ?? "")))
                #expect(open.contains(asked.port ?? 80))
                let answer = try await scene.ask("\(asked.path)?\(asked.query ?? "")")
                let member = trigger["metadata"]["valueLocation"].text ?? "?"
                #expect(answer.status == 200, "\(answer.text)")
                #expect(try JSON(text: answer.text)[member]?.integer != nil, "\(member) is not in \(answer.text)")
            }
        }
    }
}
