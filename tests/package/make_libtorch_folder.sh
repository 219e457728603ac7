#!/usr/bin/env bash
# Makes a folder that has the system's LibTorch as its zip has it, and what such a folder has of an old protobuf.
#   tests/package/make_libtorch_folder.sh FOLDER
set -euo pipefail
folder=$1
mkdir -p "$folder"/{bin,include/google/protobuf/stubs,lib,share/cmake}
libraries=$(dirname "$(${CXX:-c++} -print-file-name=libtorch.so)")
libraries=$(realpath -- "$libraries")
ln -s "$libraries"/lib{torch,torch_cpu,c10}.so "$folder/lib/"
for part in ATen c10 caffe2 torch; do ln -s "/usr/include/$part" "$folder/include/"; done
cp -r "$libraries"/cmake/{Caffe2,Torch} "$folder/share/cmake/"

echo '#define GOOGLE_PROTOBUF_VERSION 3013000' >"$folder/include/google/protobuf/stubs/common.h"
touch "$folder"/include/google/protobuf/{message_lite,service}.h "$folder"/lib/libprotobuf{,-lite}.a
printf '#!/bin/sh\necho libprotoc 3.13.0\n' >"$folder/bin/protoc"
chmod +x "$folder/bin/protoc"
