# Untested: vcpkg has not built it, and the checksum is that of no archive yet.
vcpkg_from_github(
    OUT_SOURCE_PATH SOURCE_PATH
    REPO clockscope/clockscope
    REF "v${VERSION}"
    SHA512 0
    HEAD_REF main
)

# The library is written in Rust. vcpkg has no cargo, so that it has to be installed.
find_program(CARGO cargo REQUIRED)

if(VCPKG_LIBRARY_LINKAGE STREQUAL "static")
    set(library "libclockscope_c.a")
    set(installed "libclockscope.a")
else()
    set(library "libclockscope_c.so")
    # Its SONAME, which -lclockscope reaches by a link.
    set(installed "libclockscope.so.0")
endif()

vcpkg_execute_required_process(
    COMMAND "${CARGO}" build --release --locked --package clockscope-capi
            --target-dir "${CURRENT_BUILDTREES_DIR}/${TARGET_TRIPLET}-rel"
    WORKING_DIRECTORY "${SOURCE_PATH}"
    LOGNAME "cargo-${TARGET_TRIPLET}"
)

# There is no debug build: the header's inlined readings are the program's own.
foreach(folder IN ITEMS lib debug/lib)
    file(INSTALL "${CURRENT_BUILDTREES_DIR}/${TARGET_TRIPLET}-rel/release/${library}"
        DESTINATION "${CURRENT_PACKAGES_DIR}/${folder}" RENAME "${installed}")
    if(NOT VCPKG_LIBRARY_LINKAGE STREQUAL "static")
        file(CREATE_LINK "${installed}" "${CURRENT_PACKAGES_DIR}/${folder}/libclockscope.so" SYMBOLIC)
    endif()
endforeach()
file(INSTALL "${SOURCE_PATH}/crates/clockscope-capi/include/" DESTINATION "${CURRENT_PACKAGES_DIR}/include")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE-MIT" "${SOURCE_PATH}/LICENSE-APACHE")
