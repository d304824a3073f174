/// The page: one file, no build step.
enum PhotoPage {
    static let html = """
        <!doctype html>
        <html lang="en">
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Photos</title>
        <style>
        :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
        body { max-width: 42rem; margin: 3rem auto; padding: 0 1rem }
        progress { width: 100% }
        img { max-width: 100%; display: block; margin-top: 1rem }
        .quiet { opacity: .7 }
        </style>
        <h1>Photos</h1>
        <p><label>Choose a JPEG: <input type="file" id="file" accept="image/jpeg"></label></p>
        <section id="job" hidden>
        <progress id="bar" max="1" value="0"></progress>
        <p id="state" role="status"></p>
        <p id="worker" class="quiet"></p>
        </section>
        <div id="photo"></div>
        <p class="quiet"><a href="/errand">What the queue does</a></p>
        <script>
        const by = id => document.getElementById(id)
        let source
        by('file').onchange = async event => {
            const file = event.target.files[0]
            if (!file) return
            by('job').hidden = false
            by('photo').replaceChildren()
            by('state').textContent = 'Uploading ' + file.name
            const answer = await fetch('/photos', { method: 'POST', body: file })
            if (!answer.ok) { by('state').textContent = await answer.text(); return }
            follow(await answer.json())
        }
        function follow({ photo, job }) {
            const workers = []
            source?.close()
            by('bar').value = 0
            source = new EventSource('/jobs/' + job + '/events')
            source.onmessage = message => {
                const now = JSON.parse(message.data)
                if (now.fraction != null) by('bar').value = now.fraction
                if (now.worker && workers.at(-1) !== now.worker) workers.push(now.worker)
                by('state').textContent = [now.state, now.message].filter(Boolean).join(': ')
                by('worker').textContent = workers.length ? 'worker ' + workers.join(', then ') : ''
                if (now.state === 'finished') {
                    const image = new Image()
                    image.alt = 'Your photo'
                    image.src = '/photos/' + photo + '/800'
                    by('photo').replaceChildren(image)
                    by('bar').value = 1
                }
                if (now.state === 'dead') by('state').textContent = 'Given up: ' + now.error
                if (now.hasEnded) source.close()
            }
        }
        </script>
        </html>
        """
}
