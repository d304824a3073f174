#!/usr/bin/env python3
"""Walks through the dashboard in a real browser, with a real cluster behind it, and looks at every page as people would.

    scripts/check-pages [--screenshots DIR]

Every page is opened in light and dark, on a desktop and on a telephone; then what can be done is done, and has to be seen. Fails
on any message on the browser's console (scripts that fail, files that are missing, violations of the content security policy),
on a page that is wider than its window, on a dialog that job data opened, and on anything that is not seen in time.
"""
import argparse
import json
import os
import subprocess
import sys
import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

HOSTILE = ['<script>alert(1)</script>', '"\u0301 onfocus=alert(1) autofocus x="\u0301', "'><img src=x onerror=alert(1)>",
           '\u202etxt.exe', '{{base}}{{{content}}}']
# What an operation may be called, at its worst.
UNKNOWN = ['__proto__', 'constructor', '..', '-', 'W' * 128]
DEVICES = {'desktop': (1280, 900, False), 'large': (1920, 1080, False), 'telephone': (390, 844, True)}
# Names and errors without a space to break at.
LONG = 'N' * 128
# The elements that are wider than what they are shown in. The text of a closed error is cut by intention, as is what only screen readers see; the
# graph of a workflow scrolls within its own box.
WIDE = """return [...document.querySelectorAll('body, body *')].filter((one) => {
  const style = getComputedStyle(one);
  return one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0 && style.display !== 'inline' && style.textOverflow !== 'ellipsis'
    && !one.closest('pre, textarea, select, input, .skip, .graph');
}).map((one) => `${one.tagName}.${one.className.baseVal ?? one.className} ${one.scrollWidth} > ${one.clientWidth}`).slice(0, 5)"""


class Walk:
    def __init__(self, place, producer, screenshots):
        self.place, self.producer, self.screenshots = place, producer, screenshots
        options = Options()
        options.binary_location = os.environ.get('CHROMIUM', '/usr/bin/chromium')
        for argument in ('--headless=new', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--disable-dev-shm-usage'):
            options.add_argument(argument)
        options.set_capability('goog:loggingPrefs', {'browser': 'ALL'})
        options.set_capability('unhandledPromptBehavior', 'ignore')
        self.browser = webdriver.Chrome(service=Service(os.environ.get('CHROMEDRIVER', '/usr/bin/chromedriver')), options=options)
        self.faults = []

    def push(self, **description):
        text = json.dumps(description)
        answer = subprocess.run([self.producer, 'push', '--from', '-', '--json'], input=text, stdout=subprocess.PIPE, check=True, text=True,
                                stderr=subprocess.DEVNULL)
        return json.loads(answer.stdout)['id']

    def redis(self, *words):
        """Writes past every check, as whoever may write to the broker could."""
        socket = os.environ['ERRAND_REDIS_URL'].removeprefix('unix://')
        subprocess.run(['redis-cli', '-e', '-s', socket, *words], stdout=subprocess.DEVNULL, check=True)

    def store(self, id, operation):
        """Stores what no producer makes: a job of an operation that may not be called so."""
        fragment = json.dumps({'operation': operation, 'name': operation}, separators=(',', ':'))[1:-1]
        description = json.dumps({'operation': operation, 'name': operation, 'queue': 'files', 'unique': 'ignore', 'id': id})
        body = f'{int(time.time() * 1000):013}1i5;;;{len(fragment)}\n{fragment}{description}'
        self.redis('HSET', 'errand:{files}:body', id, body)

    def open(self, path):
        self.browser.get(self.place + path)

    def fault(self, what):
        self.faults.append(what)
        print(f'  FAULT {what}')

    def look(self, where):
        """What is wrong with the page that is open."""
        for entry in self.browser.get_log('browser'):
            self.fault(f'{where}: the console says {entry["message"]}')
        wide = self.browser.execute_script('return document.documentElement.scrollWidth - document.documentElement.clientWidth')
        if wide > 0:
            self.fault(f'{where}: the page is {wide} points wider than its window')
        for element in self.browser.execute_script(WIDE):
            self.fault(f'{where}: {element} scrolls sideways')
        height, width = self.browser.execute_script(
            "return [document.querySelector('header')?.getBoundingClientRect().height ?? 0, window.innerWidth]")
        if width < 400 and height > 100:
            self.fault(f'{where}: the header takes {height} points')
        unnamed = self.browser.execute_script(
            "return [...document.querySelectorAll('input:not([type=hidden]),select,textarea')].filter(e => !e.labels.length && !e.ariaLabel).length")
        if unnamed:
            self.fault(f'{where}: {unnamed} fields have no name for those who do not see them')

    def until(self, what, is_so, seconds=20):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                found = is_so()
            except Exception:  # The page was renewed under our hands.
                found = False
            if found:
                return found
            time.sleep(0.1)
        self.fault(f'waited in vain: {what}')
        return None

    def sees(self, text):
        return lambda: text in self.browser.find_element(By.TAG_NAME, 'body').text

    def emulate(self, device, scheme):
        width, height, is_mobile = DEVICES[device]
        self.browser.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {
            'width': width, 'height': height, 'deviceScaleFactor': 1, 'mobile': is_mobile})
        self.browser.execute_cdp_cmd('Emulation.setEmulatedMedia', {'features': [{'name': 'prefers-color-scheme', 'value': scheme}]})

    def picture(self, name):
        if self.screenshots:
            self.browser.save_screenshot(os.path.join(self.screenshots, name + '.png'))

    def every_page(self):
        dead = self.push(operation='bad', queue='files', name='report.pdf', arguments={'path': 'report.pdf', 'pages': [1, 2]})
        for number in range(3):
            self.long(number)
        self.open('/jobs?state=dead')
        self.until('the job dies', lambda: (self.browser.refresh(), self.sees('report.pdf')())[1])
        pages = {'overview': '/', 'queue': '/queues/images', 'jobs': '/jobs', 'dead': '/jobs?state=dead', 'job': f'/queues/files/jobs/{dead}?arguments=show',
                 'long': '/queues/files/jobs/long-0?arguments=show', 'finished': '/jobs?state=finished', 'push': '/push', 'schedule': '/schedules/edit',
                 'workers': '/workers', 'schedules': '/schedules', 'events': '/events', 'actions': '/actions', 'missing': '/queues/nothing'}
        for device in DEVICES:
            for scheme in ('light', 'dark'):
                self.emulate(device, scheme)
                for name, path in pages.items():
                    self.open(path)
                    where = f'{name}, {device}, {scheme}'
                    if name == 'events':
                        self.until(f'{where}: an event comes', lambda: self.browser.find_elements(By.CSS_SELECTOR, '#events li'))
                    if name == 'missing':
                        # The status of the page itself is told on the console.
                        self.browser.get_log('browser')
                    self.open_details()
                    self.look(where)
                    self.picture(f'{name}-{device}-{scheme}')
                    print(f'  {where}')
        self.emulate('desktop', 'light')

    def long(self, number):
        """Stores a dead job whose name and error are as long as they may be, over several lines."""
        id = f'long-{number}'
        description = json.dumps({'operation': LONG, 'name': LONG, 'queue': 'files', 'unique': 'ignore', 'id': id, 'arguments': {LONG: LONG}, 'meta': {LONG: LONG}})
        fragment = json.dumps({'operation': LONG, 'name': LONG}, separators=(',', ':'))[1:-1]
        self.redis('HSET', 'errand:{files}:body', id, f'{int(time.time() * 1000):013}1i5;;;{len(fragment)}\n{fragment}{description}')
        self.redis('ZADD', 'errand:{files}:dead', str(int(time.time() * 1000)), id)
        error = '\n'.join(letter * 1000 for letter in 'xyz')
        self.redis('HSET', 'errand:{files}:errors', id, json.dumps({'event': 'dead', 'id': id, 'operation': LONG, 'name': LONG, 'queue': 'files', 'attempt': 1,
                   'worker': LONG, 'at_ms': int(time.time() * 1000), 'duration_ms': 1500, 'error': error}))

    def open_details(self):
        """Opens all that can be opened, as people do with the most interesting one."""
        self.browser.execute_script("for (const one of document.querySelectorAll('main details')) one.open = true")

    def hostile_data(self):
        for text in HOSTILE:
            self.push(operation='bad', queue='files', name=text, arguments={text: text})
        self.open('/jobs?state=dead&queue=files')
        self.until('hostile jobs die', lambda: (self.browser.refresh(), len(self.browser.find_elements(By.CSS_SELECTOR, 'li.job')) > len(HOSTILE))[1])
        self.look('hostile errors by group')
        self.holds('hostile errors by group')
        links = [link.get_attribute('href') for link in self.browser.find_elements(By.CSS_SELECTOR, 'li.job a.title')]
        for link in links:
            self.browser.get(link + '?arguments=show')
            self.look(f'hostile {link}')
            self.holds(link)

    def holds(self, where):
        if self.browser.find_elements(By.CSS_SELECTOR, 'main img, main script, [onfocus], [onerror]'):
            self.fault(f'{where}: job data became markup')

    def unknown_operations(self):
        for name in UNKNOWN:
            self.push(operation=name, queue='files')
        for number, text in enumerate(HOSTILE):
            self.park(f'raw-parked-{number}', text)
            # An id may be as bad; it has no page then, but a list shows it.
            for id in (f'raw-dead-{number}', text):
                self.bury(id, text)
            self.unknown_seen(number, text)
            for id in (f'raw-dead-{number}', text):
                self.forget(id)
        self.open('/')
        self.until('operations that no worker knows are told', lambda: (self.browser.refresh(), set(UNKNOWN) <= self.cells())[1])
        for device in DEVICES:
            self.emulate(device, 'light')
            for path in ('/', '/jobs?queue=files'):
                self.open(path)
                self.look(f'unknown operations, {path}, {device}')
            self.picture(f'unknown-{device}-light')
        self.emulate('desktop', 'light')

    def cells(self):
        return {cell.text for cell in self.browser.find_elements(By.CSS_SELECTOR, '#live-overview td')}

    def park(self, id, text):
        self.store(id, text)
        self.redis('RPUSH', f'errand:{{files}}:unroutable:{text}', id)
        self.redis('HSET', 'errand:{files}:unroutable', text, '1')

    def bury(self, id, text):
        self.store(id, text)
        self.redis('ZADD', 'errand:{files}:dead', str(int(time.time() * 1000)), id)
        self.redis('HSET', 'errand:{files}:errors', id, self.event(id, text))

    def forget(self, id):
        """Later parts take dead jobs as they come."""
        self.redis('ZREM', 'errand:{files}:dead', id)
        for key in ('body', 'errors'):
            self.redis('HDEL', f'errand:{{files}}:{key}', id)

    def event(self, id, text):
        return json.dumps({'event': 'failed', 'id': id, 'operation': text, 'name': text, 'queue': text, 'attempt': 1, 'worker': text,
                           'at_ms': int(time.time() * 1000), 'duration_ms': 1, 'error': text})

    def unknown_seen(self, number, text):
        for path in ('/', '/queues/files', '/jobs?queue=files', '/jobs?state=dead&queue=files', f'/queues/files/jobs/raw-parked-{number}?arguments=show',
                     f'/queues/files/jobs/raw-dead-{number}?arguments=show', '/events'):
            self.open(path)
            if path == '/events':
                # Again and again: nothing tells when the broker is listened to.
                publish = ('PUBLISH', 'errand:{files}:events', self.event(f'raw-dead-{number}', text))
                self.until(f'an event of {text} comes', lambda: (self.redis(*publish), self.browser.find_elements(By.CSS_SELECTOR, '#events .tag.dead'))[1])
            self.look(f'{path} with {text}')
            self.holds(f'{path} with {text}')

    def live_changes(self):
        self.open('/queues/images')
        self.browser.find_element(By.XPATH, "//button[text()='Pause']").click()
        self.until('the queue is paused', self.sees('The queue is paused.'))
        before = self.number('/queues/images', 'ready')
        self.push(operation='ok', queue='images', name='seen live')
        self.open('/queues/images')
        self.push(operation='ok', queue='images', name='seen live, too')
        self.until('jobs come without loading the page', lambda: self.cell('ready') >= before + 2)
        self.browser.find_element(By.XPATH, "//button[text()='Resume']").click()
        self.until('the queue is resumed', self.sees('The queue is resumed.'))
        self.until('the queue is empty, live', lambda: self.cell('ready') == 0)
        self.look('after pausing and resuming')

    def source_fails(self):
        self.open('/queues/images')
        # As if the broker were away for the dashboard alone: nothing else asks for the queues.
        self.redis('ACL', 'SETUSER', 'default', '-smembers')
        self.until('old numbers are said to be old', lambda: 'Not refreshed since' in self.stale())
        for scheme in ('light', 'dark'):
            self.emulate('desktop', scheme)
            self.picture(f'stale-desktop-{scheme}')
        self.emulate('desktop', 'light')
        self.redis('ACL', 'SETUSER', 'default', '+smembers')
        self.until('they are new again', lambda: not self.stale())
        # Answers that are failures are told on the console.
        self.browser.get_log('browser')
        self.look('after the source failed')

    def stale(self):
        return ''.join(sign.text for sign in self.browser.find_elements(By.CSS_SELECTOR, '.stale'))

    def keyboard_stays(self):
        self.open('/')
        link = self.browser.find_element(By.CSS_SELECTOR, '#live-overview a[href$="/queues/images"]')
        self.browser.execute_script("arguments[0].focus(); arguments[0].dataset.old = ''", link)
        self.until('the part that the keyboard is on is renewed', lambda: not self.browser.find_elements(By.CSS_SELECTOR, '[data-old]'))
        place = self.browser.switch_to.active_element.get_attribute('href') or ''
        if not place.endswith('/queues/images'):
            self.fault(f'the keyboard went from /queues/images to {place or "nowhere"}')
        self.look('after the keyboard')

    def number(self, path, state):
        self.open(path)
        return self.cell(state)

    def cell(self, state):
        link = self.browser.find_element(By.CSS_SELECTOR, f'td.number a[href*="state={state}"]')
        return int(link.text.replace(',', ''))

    def retries(self):
        # Fails until it is told not to: the job is edited, and then it works.
        dead = self.push(operation='bad', queue='files', name='to be mended')
        self.open(f'/queues/files/jobs/{dead}?arguments=show')
        self.until('the job is dead', lambda: (self.browser.refresh(), self.browser.find_elements(By.ID, 'description'))[1])
        area = self.browser.find_element(By.ID, 'description')
        text = json.loads(area.get_attribute('value'))
        area.clear()
        area.send_keys(json.dumps({**text, 'operation': 'ok', 'queue': 'images'}))
        self.browser.find_element(By.XPATH, "//button[text()='Push']").click()
        self.until('the new job finishes, live', self.sees('finished'))
        self.look('after an edit')
        self.open('/jobs?state=dead&queue=files')
        # With the keyboard alone: select the first job, then the button.
        box = self.browser.find_element(By.NAME, 'job')
        box.send_keys(Keys.SPACE)
        self.browser.find_element(By.XPATH, "//button[text()='Retry']").send_keys(Keys.ENTER)
        self.until('one job is retried', self.sees('Done: 1 job.'))
        self.look('after a retry')

    def many_at_once(self):
        self.open('/jobs?state=dead&queue=files')
        self.browser.find_element(By.NAME, 'job').click()
        self.browser.find_element(By.XPATH, "//button[text()='Delete']").click()
        self.until('it asks for a selected job, too', self.sees('Delete 1 selected job?'))
        self.look('the question about selected jobs')
        self.browser.find_element(By.NAME, 'confirmed').click()
        self.until('the selected job is deleted', self.sees('Done: 1 job.'))
        self.open('/jobs?state=dead&queue=files')
        self.browser.find_element(By.CSS_SELECTOR, 'select[name=scope] option[value=matching]').click()
        self.browser.find_element(By.XPATH, "//button[text()='Delete']").click()
        self.until('it asks', self.sees('in the state dead?'))
        self.picture('confirm-desktop-light')
        self.look('the question')
        self.browser.find_element(By.NAME, 'confirmed').click()
        self.until('all dead jobs are deleted', self.sees('Done:'))
        self.open('/actions')
        self.until('the log of actions has them', self.sees('delete'))
        self.look('the log of actions')
        self.browser.find_element(By.CSS_SELECTOR, '#live-runs a').click()
        self.until('the log leads to what was done', self.sees('Done:'))
        self.look('what was done with many jobs')


    def is_seen(self, element):
        """Whether an element is shown; the driver does not notice closed parts."""
        return self.browser.execute_script('return arguments[0].checkVisibility()', element)

    def lists(self):
        for id in ('long-0', 'long-1', 'long-2'):
            self.forget(id)
        for number in range(3):
            self.push(operation='bad', queue='files', name=f'group {number}')
        self.open('/jobs?state=dead&queue=files')
        self.until('three jobs are in one group', lambda: (self.browser.refresh(), self.browser.find_element(By.CSS_SELECTOR, '.group > .count').text == '3')[1])
        self.browser.find_element(By.CSS_SELECTOR, 'details.error summary').click()
        self.until('an error opens by a click', lambda: self.is_seen(self.browser.find_element(By.CSS_SELECTOR, 'details.error pre')))
        self.browser.find_element(By.CSS_SELECTOR, '[data-copy]').click()
        self.until('an id is copied', self.sees('Copied'))
        self.browser.find_element(By.XPATH, "//button[text()='Retry']").click()
        self.until('nothing selected is said on the list', self.sees('Nothing was done: no job is selected.'))
        self.look('the list after nothing was selected')
        self.browser.find_element(By.XPATH, "//button[text()='Retry all']").click()
        self.until('it asks about the group', self.sees('Retry 3 jobs'))
        self.look('the question about a group')
        self.browser.find_element(By.NAME, 'confirmed').click()
        self.until('the group is retried', self.sees('Done: 3 jobs.'))
        self.open('/jobs?state=dead')
        if not self.is_seen(self.browser.find_element(By.NAME, 'operation')):
            self.fault('the filters are hidden on a desktop')
        self.emulate('telephone', 'dark')
        self.open('/jobs?state=dead')
        field = self.browser.find_element(By.NAME, 'operation')
        if self.is_seen(field):
            self.fault('the filters are open on a telephone')
        self.browser.find_element(By.CSS_SELECTOR, '.filters summary').click()
        self.until('the filters open', lambda: self.is_seen(field))
        self.look('the filters on a telephone')
        field.send_keys('no such', Keys.ENTER)
        self.until('nothing is found', self.sees('No such jobs'))
        self.open('/jobs?since=yesterday')
        self.browser.get_log('browser')
        self.until('a wrong time is a message', self.sees('write times as 2h'))
        self.emulate('desktop', 'light')

    def pushes(self):
        self.open('/jobs')
        self.browser.find_element(By.LINK_TEXT, 'Push a job').click()
        self.browser.find_element(By.NAME, 'operation').send_keys('ok')
        self.browser.find_element(By.NAME, 'queue').send_keys('images')
        self.browser.find_element(By.NAME, 'arguments').send_keys('{"a": ')
        self.browser.find_element(By.XPATH, "//button[text()='Push']").click()
        self.until('arguments that are no JSON are a message', self.sees('the arguments are not JSON'))
        self.browser.get_log('browser')
        self.look('the form after a mistake')
        self.browser.find_element(By.NAME, 'arguments').send_keys('1}')
        self.browser.find_element(By.XPATH, "//button[text()='Push']").click()
        self.until('the job has a page', self.sees('This is the new job.'))
        self.until('the job finishes, live', self.sees('finished'))
        self.look('a pushed job')

    def groups(self):
        pattern, group = 'W' * 64 + '/*', 'W' * 64 + '/' + 'V' * 64
        self.open('/queues/images/groups')
        self.until('there are no rules', self.sees('No rules.'))
        self.browser.find_element(By.NAME, 'pattern').send_keys(pattern)
        self.browser.find_element(By.NAME, 'at_once').send_keys('many')
        self.browser.find_element(By.XPATH, "//button[text()='Set']").click()
        self.until('a number that is none is a message', self.sees('at_once: write a whole number'))
        self.browser.get_log('browser')
        self.look('the form for a rule after a mistake')
        field = self.browser.find_element(By.NAME, 'at_once')
        field.clear()
        field.send_keys('1000000')
        # One job starts, and the others wait until the rule is deleted.
        self.browser.find_element(By.NAME, 'rate').send_keys('1/2591999999ms')
        self.browser.find_element(By.XPATH, "//button[text()='Set']").click()
        self.until('the rule is set', self.sees('1000000 at once'))
        for _ in range(3):
            self.push(operation='ok', queue='images', group=group)
        self.until('the group is at its rate, live', self.sees('at its rate'))
        for path in ('/queues/images/groups', '/jobs?queue=images'):
            for device in DEVICES:
                for scheme in ('light', 'dark'):
                    self.emulate(device, scheme)
                    self.open(path)
                    self.look(f'{path}, {device}, {scheme}')
                    if path.endswith('groups'):
                        self.picture(f'groups-{device}-{scheme}')
        self.emulate('desktop', 'light')
        self.open('/queues/images')
        self.browser.find_element(By.LINK_TEXT, 'Groups and rules').click()
        self.browser.find_element(By.XPATH, "//button[text()='Delete']").click()
        self.until('it asks', lambda: self.browser.switch_to.alert or True)
        self.browser.switch_to.alert.accept()
        self.until('the rule is deleted', self.sees('the rule is deleted'))
        self.look('after a rule was deleted')

    def workflow(self, name, jobs, **more):
        text = json.dumps({'workflow': name, 'queue': 'images', 'jobs': jobs, **more})
        answer = subprocess.run([self.producer, 'push', '--workflow', '-', '--json'], input=text, stdout=subprocess.PIPE, check=True, text=True,
                                stderr=subprocess.DEVNULL)
        return json.loads(answer.stdout)['workflow']

    def workflows(self):
        """A small one that a dead job holds up, with a name and keys at their worst, and one with more jobs than fit on a screen."""
        bad = {'operation': 'bad', 'queue': 'files'}
        held = self.workflow(HOSTILE[0] + ' ' + LONG, {LONG: {'operation': 'ok'}, 'breaks': {**bad, 'after': [LONG]},
                             'waits': {'operation': 'ok', 'after': ['breaks']}, 'cleans': {'operation': 'ok', 'after': ['breaks'], 'when': 'any_end'}})
        wide = {f'part-{number}': {'operation': 'ok', 'after': ['split']} for number in range(498)}
        large = self.workflow('large', {'split': {'operation': 'ok'}, **wide, 'merge': {'operation': 'ok', 'after': list(wide)}})
        self.open(f'/workflows/{held}')
        self.until('the workflow is held up, live', self.sees('breaks (dead)'))
        self.until('the other job runs all the same', lambda: len(self.browser.find_elements(By.CSS_SELECTOR, '.graph a.finished')) == 2)
        self.open(f'/workflows/{large}')
        self.until('the large workflow finishes, live', lambda: len(self.browser.find_elements(By.CSS_SELECTOR, '.graph a.finished')) == 500, seconds=60)
        for device in DEVICES:
            for scheme in ('light', 'dark'):
                self.emulate(device, scheme)
                for name, path in {'workflows': '/workflows', 'workflow': f'/workflows/{held}', 'large-workflow': f'/workflows/{large}'}.items():
                    self.open(path)
                    self.open_details()
                    self.look(f'{name}, {device}, {scheme}')
                    self.holds(f'{name}, {device}, {scheme}')
                    self.picture(f'{name}-{device}-{scheme}')
        self.emulate('desktop', 'light')
        self.edges_of(held)
        self.steer(held)

    def edges_of(self, id):
        """The graph by keyboard: a job with the focus has its edges marked, also after a refresh, and Enter opens its page."""
        self.open(f'/workflows/{id}')
        node = self.browser.find_element(By.CSS_SELECTOR, '.graph a.dead')
        self.browser.execute_script("arguments[0].focus(); arguments[0].dataset.old = ''", node)
        self.until('the graph is renewed', lambda: not self.browser.find_elements(By.CSS_SELECTOR, '[data-old]'))
        marked = len(self.browser.find_elements(By.CSS_SELECTOR, '.graph path.near'))
        if marked != 3:
            self.fault(f'{marked} edges of the job with the focus are marked, not 3')
        self.browser.switch_to.active_element.send_keys(Keys.ENTER)
        self.until('the page of the job opens', self.sees(f'breaks of {id}'))
        self.look('a job of a workflow')
        self.browser.find_element(By.PARTIAL_LINK_TEXT, f'of {id}').click()
        self.until('its workflow opens', self.sees('Retry the dead jobs'))

    def steer(self, id):
        self.until('Retry is offered', lambda: self.browser.find_element(By.XPATH, "//button[text()='Retry the dead jobs']").click() or True)
        self.until('the dead job is retried', self.sees('1 job retried'))
        for title, words in (('Cancel', 'cancelled or asked to stop'), ('Delete', f'{id}: deleted.')):
            self.until(f'{title} is offered', lambda: self.browser.find_element(By.XPATH, f"//button[text()='{title}']").click() or True)
            self.until('it asks', lambda: self.browser.switch_to.alert or True)
            self.browser.switch_to.alert.accept()
            self.until(words, self.sees(words))
            self.look(f'after {title} of a workflow')
        self.open('/actions')
        self.until('the actions are logged', self.sees('delete workflow'))

    def schedules(self):
        self.open('/schedules')
        self.until('the timing has words', self.sees('at 03:00 every day (UTC)'))
        self.browser.find_element(By.LINK_TEXT, 'New schedule').click()
        self.browser.find_element(By.NAME, 'name').send_keys(LONG)
        self.browser.find_element(By.NAME, 'queue').send_keys('images')
        self.browser.find_element(By.NAME, 'every').send_keys('1d')
        area = self.browser.find_element(By.NAME, 'job')
        area.clear()
        area.send_keys('{"operation": "ok"}')
        self.browser.find_element(By.XPATH, "//button[text()='Save']").click()
        self.until('the schedule is stored', self.sees(f'{LONG}: created.'))
        for device in DEVICES:
            self.emulate(device, 'light')
            self.open('/schedules')
            self.open_details()
            self.look(f'schedules with a long name, {device}')
        self.emulate('desktop', 'light')
        self.browser.find_element(By.CSS_SELECTOR, f'[aria-label="Edit {LONG}"]').click()
        every = self.browser.find_element(By.NAME, 'every')
        every.clear()
        every.send_keys('2d')
        self.browser.find_element(By.XPATH, "//button[text()='Save']").click()
        self.until('the schedule is changed', self.sees(f'{LONG}: changed.'))
        self.look('a changed schedule')

    def events(self):
        self.open('/events')
        rows = lambda: self.browser.find_elements(By.CSS_SELECTOR, '#events li')
        self.until('an event comes', rows)
        self.browser.find_element(By.ID, 'events-pause').click()
        self.until('it says that it is paused', self.sees('Paused; '))
        before = len(rows())
        self.until('events are waiting', self.sees('2 events are waiting.'))
        if len(rows()) != before:
            self.fault('events came while the list was paused')
        self.browser.find_element(By.ID, 'events-pause').click()
        self.until('they come afterwards', lambda: len(rows()) >= before + 2)
        self.browser.find_element(By.ID, 'events-text').send_keys('no such event')
        self.until('the filter hides them', lambda: not rows())
        self.browser.find_element(By.ID, 'events-text').send_keys(Keys.BACKSPACE * 20)
        self.until('they come back', rows)
        self.look('events after filtering')

    def without_script(self):
        self.push(operation='bad', queue='files', name='read without a script')
        # The driver's own questions still run.
        self.browser.execute_cdp_cmd('Emulation.setScriptExecutionDisabled', {'value': True})
        self.open('/jobs?state=dead')
        self.until('the job is listed', lambda: (self.browser.refresh(), self.sees('read without a script')())[1])
        for path, names in (('/jobs?state=dead', '[data-copy], [data-all]'), ('/events', '#events-tools'), ('/schedules', '[data-copy]')):
            self.open(path)
            if any(one.is_displayed() for one in self.browser.find_elements(By.CSS_SELECTOR, names)):
                self.fault(f'{path} shows without a script what only works with one')
            if path == '/schedules' and 'Times are in UTC' not in self.browser.find_element(By.TAG_NAME, 'body').text:
                self.fault('times without a script do not say their zone')
        self.browser.execute_cdp_cmd('Emulation.setScriptExecutionDisabled', {'value': False})

    def last_look(self):
        # By now there is something to see on the charts.
        for device in DEVICES:
            for scheme in ('light', 'dark'):
                self.emulate(device, scheme)
                self.open('/')
                self.look(f'overview, at last, {device}, {scheme}')
                self.picture(f'overview-{device}-{scheme}')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('place', help='the address of the dashboard')
    parser.add_argument('producer', help='the executable that pushes')
    parser.add_argument('--screenshots', help='a directory for pictures of every page')
    options = parser.parse_args()
    if options.screenshots:
        os.makedirs(options.screenshots, exist_ok=True)
    walk = Walk(options.place.rstrip('/'), options.producer, options.screenshots)
    try:
        for part in (walk.every_page, walk.hostile_data, walk.live_changes, walk.keyboard_stays, walk.retries, walk.many_at_once, walk.lists, walk.pushes, walk.groups, walk.workflows, walk.schedules, walk.events, walk.without_script, walk.last_look, walk.unknown_operations, walk.source_fails):
            print(part.__name__.replace('_', ' '))
            part()
    finally:
        walk.browser.quit()
    print(f'{len(walk.faults)} faults')
    sys.exit(1 if walk.faults else 0)


main()
