/** Whether a browser window could be shown here. On Linux that takes a display, or a browser that `BROWSER` names. */
export function hasDisplay(
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): boolean {
  if (platform === 'darwin' || platform === 'win32') return true
  return ['DISPLAY', 'WAYLAND_DISPLAY', 'WSL_DISTRO_NAME', 'BROWSER'].some(name => (env[name] ?? '') !== '')
}
