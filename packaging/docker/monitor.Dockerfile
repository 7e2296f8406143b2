# Untested: no tool has built this image.
#
# The static program of `cargo xtask dist` beside a shell, which repeats it (packaging/kubernetes):
#   cargo xtask dist x86_64-unknown-linux-musl
#   docker build --file packaging/docker/monitor.Dockerfile --tag clockscope-monitor:0.1.0 target/dist
FROM scratch AS unpacked
ADD clockscope-0.1.0-x86_64-unknown-linux-musl.tar.gz /

FROM busybox:1.37-musl
COPY --from=unpacked /clockscope-0.1.0-x86_64-unknown-linux-musl/clockscope /bin/clockscope
COPY --from=unpacked /clockscope-0.1.0-x86_64-unknown-linux-musl/LICENSE-APACHE /clockscope-0.1.0-x86_64-unknown-linux-musl/LICENSE-MIT /licenses/
