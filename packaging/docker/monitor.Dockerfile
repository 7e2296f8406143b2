# The static program of `cargo xtask dist` beside a shell, which repeats it (packaging/kubernetes):
#   cargo xtask dist x86_64-unknown-linux-musl
#   docker build --file packaging/docker/monitor.Dockerfile --tag REGISTRY/clockscope:0.1.0 \
#       target/archives
#   docker push REGISTRY/clockscope:0.1.0
# For arm64: cargo xtask dist aarch64-unknown-linux-musl, and these arguments of build:
#   --platform linux/arm64 --build-arg TARGET=aarch64-unknown-linux-musl
# The DaemonSet then needs `kubernetes.io/arch: arm64`.
ARG VERSION=0.1.0
ARG TARGET=x86_64-unknown-linux-musl

FROM scratch AS unpacked
ARG VERSION
ARG TARGET
ADD clockscope-${VERSION}-${TARGET}.tar.gz /

FROM busybox:1.37-musl
ARG VERSION
ARG TARGET
COPY --from=unpacked /clockscope-${VERSION}-${TARGET}/clockscope /bin/clockscope
COPY --from=unpacked /clockscope-${VERSION}-${TARGET}/LICENSE-APACHE /clockscope-${VERSION}-${TARGET}/LICENSE-MIT /licenses/
