#!/usr/bin/env python3
"""Uploads a photo in a real browser, kills the worker that has it, and sees the page go on with another one.

usage: photos.py BUILT DIRECTORY [--screenshots DIR]     with ERRAND_REDIS_URL set; BUILT has the executables, DIRECTORY is empty
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By


def browser():
    options = Options()
    options.binary_location = os.environ.get('CHROMIUM', '/usr/bin/chromium')
    for argument in ('--headless=new', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--disable-dev-shm-usage', '--window-size=900,900'):
        options.add_argument(argument)
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL'})
    return webdriver.Chrome(service=Service(os.environ.get('CHROMEDRIVER', '/usr/bin/chromedriver')), options=options)


def until(what, is_so, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = is_so()
        if found:
            return found
        time.sleep(0.05)
    sys.exit(f'photos: not within {seconds} s: {what}')


def slow_tool(place):
    """The real tool, which takes its time first, so that its worker can be killed while it is at work."""
    tools = place / 'tools'
    tools.mkdir()
    tool = tools / 'gm'
    tool.write_text(f"#!/bin/sh\nPATH='{os.environ['PATH']}'\nsleep 1.5\nexec gm \"$@\"\n")
    tool.chmod(0o755)
    return f"{tools}:{os.environ['PATH']}"


def main():
    built, place = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    screenshots = sys.argv[sys.argv.index('--screenshots') + 1] if '--screenshots' in sys.argv else None
    photo = place / 'holiday.jpg'
    subprocess.run(['gm', 'convert', '-size', '3000x2000', 'gradient:steelblue-orange', str(photo)], check=True)
    environment = os.environ | {'PHOTOS_DIRECTORY': str(place / 'photos'), 'ERRAND_LEASE_SECONDS': '2', 'PORT': '0'}
    log = open(place / 'server.log', 'w')
    children = [subprocess.Popen([built / 'errand-example-photo-server'], env=environment, stdout=log, stderr=log)]
    slow = environment | {'PATH': slow_tool(place)}
    quiet = subprocess.DEVNULL
    children += [subprocess.Popen([built / 'errand-example-photo-worker'], env=slow, stdout=quiet, stderr=quiet) for _ in range(2)]
    page = None
    try:
        page = browser()
        port = until('the server serves', lambda: re.search(r'port=(\d+)', (place / 'server.log').read_text()))[1]
        page.get(f'http://127.0.0.1:{port}/')
        page.find_element(By.ID, 'file').send_keys(str(photo))
        text = lambda name: page.find_element(By.ID, name).text
        until('the page names a worker', lambda: text('worker') and 'making 800' in text('state'))
        first = text('worker').split()[1]
        status = json.loads(subprocess.run([built / 'errand', 'status', '--json'], stdout=subprocess.PIPE, check=True, text=True).stdout)
        victim = next(worker['pid'] for worker in status['workers'] if worker['id'] == first)
        os.kill(victim, signal.SIGKILL)
        print(f'killed worker {first}')
        until('the page shows the photo', lambda: page.find_elements(By.CSS_SELECTOR, '#photo img'))
        until('the photo is there', lambda: page.execute_script("return document.querySelector('#photo img').naturalWidth") == 800)
        if screenshots:
            page.save_screenshot(os.path.join(screenshots, 'photo-service.png'))
        workers = text('worker')
        print(f'{text("state")}; {workers}')
        faults = [entry['message'] for entry in page.get_log('browser') if 'favicon' not in entry['message']]
        assert text('state').startswith('finished'), text('state')
        assert ', then ' in workers and not workers.endswith(first), workers
        assert not faults, faults
    finally:
        if page:
            page.quit()
        for child in children:
            child.terminate()
        for child in children:
            child.wait()


main()
